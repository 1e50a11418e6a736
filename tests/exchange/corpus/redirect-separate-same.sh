# construct: redirect-separate
sort in.txt > out 2> err
