# construct: loop
for i in 1 2 3; do head -n $i in.txt > h$i; done; cat h1 h2 h3 > all
