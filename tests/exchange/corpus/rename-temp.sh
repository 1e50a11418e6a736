# construct: rename
sort in.txt > out.tmp && mv out.tmp out; cat out > copy
