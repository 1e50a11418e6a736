# construct: links
# symbolic: in.txt way
# A job replaces a link of before, and a later one writes through it.
cat way > o
cp o v
ln -sf v way
cp header way
sort v > sorted
