# construct: link
mkdir a; cp in.txt body a/; cp -al a b; sort -o b/in.txt b/in.txt; cat a/in.txt > seen
