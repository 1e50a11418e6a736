# construct: base
# through: link
sort "$PWD/in.txt" > "$PWD/o1"; sh -c "cat $PWD/in.txt > $PWD/o2"; cp "$PWD/o1" o3; mkdir s; cd s; cp "$PWD/../in.txt" "$PWD/x"
