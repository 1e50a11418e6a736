# construct: made again
# changes: in.txt
# older: yes
/usr/bin/stat -c %s in.txt >size
sort -r in.txt >o
