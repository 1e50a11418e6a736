# construct: inplace
cp in.txt f; dd if=body of=f bs=1 count=2 conv=notrunc status=none; cat f > g
