# construct: redirect
set -C; sort in.txt > out; sort header >| out
