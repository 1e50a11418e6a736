# construct: link
mkdir -p real/deep; ln -s real/deep via; cp in.txt via/../up; cat real/up > a; cd via; cp ../up here; cd ..; cat real/deep/here > b
