# construct: base
# in: scripts
# at: .
# whole: no
mkdir -p ../out; sort -r ../in.txt > ../out/o1; cp ../out/o1 ../out/o2; cat ../out/o2 > here.txt; wc -l < ../body > ../out/o3
