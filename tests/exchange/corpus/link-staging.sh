# construct: link
mkdir 1 2; sort in.txt > 1/out.txt; cd 2; ln -s ../1/out.txt in.txt; rev in.txt > res.txt
