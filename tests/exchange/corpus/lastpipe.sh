# construct: lastpipe
# shells: bash
shopt -s lastpipe; cat body | while read l; do cp in.txt "f-$l"; done
