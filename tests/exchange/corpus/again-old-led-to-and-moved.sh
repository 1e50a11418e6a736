# construct: made again
# symbolic: in.txt ll
cat ll >x
mv in.txt away
