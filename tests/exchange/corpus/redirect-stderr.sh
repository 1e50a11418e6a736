# construct: redirect
ls nope > o 2> e; sort in.txt >> o
