# construct: redirect
ls nope 2> /dev/null > o; sort in.txt > out
