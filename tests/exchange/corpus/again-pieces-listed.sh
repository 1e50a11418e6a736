# construct: made again
set -e
split -n l/2 body ck_
for piece in ck_*; do sort -o $piece.s $piece; done
cat ck_*.s >o
rm ck_*
while read line; do echo "$line."; done <o >p
