# construct: link-hard
sort in.txt > a; ln a b; wc -l b > n
