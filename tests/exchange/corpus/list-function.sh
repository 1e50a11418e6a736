# construct: list
f() { sort "$1" > "$2"; }; f in.txt a; f body b
