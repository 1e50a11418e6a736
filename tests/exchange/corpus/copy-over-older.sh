# construct: copies over files of before
# whole: no
# linked: in.txt other
cp body in.txt
cp -f header body
