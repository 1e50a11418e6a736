# construct: made again
# then: mkdir -p gone; echo x >gone/x; echo new >header
# undo: rm -f gone/x; echo h >header; touch -d @1767225600 header
rm -rf gone
mkdir gone
cp body gone/y
sh -c "ls gone; cat header" >l
