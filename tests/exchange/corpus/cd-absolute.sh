# construct: cd
d=$PWD; mkdir sub; cd sub; sort "$d/in.txt" > "$d/out"; cp "$d/out" "$d/sub/copy"
