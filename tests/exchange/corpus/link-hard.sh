# construct: link
sort in.txt > a; ln a b; cat body >> b; cp a c
