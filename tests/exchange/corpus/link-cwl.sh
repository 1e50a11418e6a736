# construct: link
mkdir stage; ln -s "$PWD/in.txt" stage/input; cat stage/input > out
