# construct: link-write
cp in.txt target; ln -s target l; sort body > l; cat target > out
