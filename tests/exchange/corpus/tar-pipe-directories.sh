# construct: tar
mkdir from to; cp in.txt body from/; (cd from && tar cf - .) | (cd to && tar xf -); cat to/in.txt > copy
