# construct: loop
for n in 1 2 3; do cp body part.$n; done; cat part.* > all; rm part.2; cat part.* > rest
