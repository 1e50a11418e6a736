# construct: find
mkdir -p src dst; cp in.txt src/a.txt; cp body src/b.txt; find src -name '*.txt' -exec cp {} dst/ \;
cat dst/a.txt dst/b.txt > joined
