# construct: made again
sort header >c.tmp
mv c.tmp c
rm header
