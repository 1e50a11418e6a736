# construct: made again
# changes: body
# becomes: c b
awk '{print > ("p" $1)}' body
cat pa pb > all.txt
