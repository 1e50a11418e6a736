# construct: kind changes
# shells: dash bash
mkfifo p; cat p > o1 & sort in.txt > p; wait; rm p; sh -c 'sleep 0.5; sort body > p'; cat p > o2; rm p; mkdir p; sh -c 'sleep 0.5; cp header p/z'; cat p/z > o3
