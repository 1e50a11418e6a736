# construct: made again
# symbolic: out.txt link
# changes: in.txt
sort -r in.txt >out.txt
/bin/sed -i --follow-symlinks s/a/four/ link
