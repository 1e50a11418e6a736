# construct: inplace
dd if=in.txt of=img bs=4 seek=2 2>/dev/null; dd if=body of=img bs=1 seek=1 conv=notrunc 2>/dev/null; cat img > copy
