# construct: here
# shells: bash
sort <<< "b a" > out; tr " " "\n" <<< "x y" > two
