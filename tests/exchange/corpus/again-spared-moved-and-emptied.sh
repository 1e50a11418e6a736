# construct: made again
mv header t
cp t o
: >t
