# construct: loop
for i in 1 2 3; do cp body b$i; [ $i = 2 ] && break; done
