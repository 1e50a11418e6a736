# construct: pipe-to-group
cat in.txt | { tr a-z A-Z > upper; cat header > h; }
