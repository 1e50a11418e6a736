# construct: redirect-in
sort < in.txt > out
