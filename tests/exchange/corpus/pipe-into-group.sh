# construct: pipe-into
cat in.txt | { head -n 1; cat header; } > out
