# construct: old links
# whole: no
# symbolic: in.txt lin in.txt cur in.txt cfg in.txt top
sh -c 'sleep 0.3; cat "$1"' _ lin > first
sed -i s/a/z/ lin
sh -c 'sleep 0.3; cat "$1"' _ cur > second
ln -sfn body cur
/usr/bin/python3 -c 'open("third", "w").write((__import__("time").sleep(0.3), open("cfg").read())[1])'
cp body new
mv new cfg
sh -c 'sleep 0.3; sort "$1"' _ top > fourth
mv top bottom
