# construct: made again
mkdir by
awk '{ print >"by/" (NR % 2) }' body
cat by/0 by/1 >o
