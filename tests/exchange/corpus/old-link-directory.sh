# construct: old links
# whole: no
# symbolic: . current
mkdir two
cp body two/in.txt
sh -c 'sleep 0.3; cat "$1"' _ current/in.txt > first
ln -s two new
mv -T new current
cat current/in.txt > second
rm current
