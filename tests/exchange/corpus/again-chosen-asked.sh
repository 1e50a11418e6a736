# construct: made again
# changes: body
# becomes: c b
awk '{print > ("p" $1)}' body
test -e pa && cat pa > all.txt
sort pb > sorted
