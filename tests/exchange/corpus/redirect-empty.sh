# construct: redirect
true > empty; sort in.txt > out
