# construct: loop-read
while read l; do cp in.txt "copy-$l"; done < body
