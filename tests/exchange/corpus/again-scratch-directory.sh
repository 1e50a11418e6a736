# construct: made again
# changes: in.txt
# deletes: b
mkdir -p tmp; sort in.txt >tmp/a; cp tmp/a b; rm tmp/a; rmdir tmp; mkdir -p tmp; cp body tmp/z
