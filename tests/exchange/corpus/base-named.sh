# construct: base name
# place: a  b
# place: $HOME `id` $(id) $$
# place: é→ü{x};&=y,z:*
# place: it's "x"
# place: -n back\slash #no 100%d\
# shells: dash bash
sort "$PWD/in.txt" > "$PWD/o1"; sh -c "cat $PWD/in.txt > $PWD/o2"; sed -n "w $PWD/o3" "$PWD/in.txt"
sh -c "sh -c 'cat \"$PWD/in.txt\"; cp $PWD/body $PWD/o5' > $PWD/o4"; mkdir "d e"; cp in.txt "$PWD/d e/f"
python3 -c "open('$PWD/o6', 'w').write(open('$PWD/in.txt').read())"; awk "{print > \"$PWD/o7\"}" in.txt
find "$PWD/d e" -type f -exec cp {} o8 ";"; (cd "d e"; sh -c "cp $PWD/f $PWD/g"); cp in.txt f
sh -c "cat $PWD/f > $PWD/o9; exit 3"; sh -c 'IFS=:; cat $1 > o11' _ "$PWD/in.txt:$PWD/body"
ln -s "$PWD/o1" l; cat l | tr a-z A-Z > o12
