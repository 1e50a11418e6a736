# construct: directory
rm -rf out; mkdir -p out/a; cp in.txt out/a/x; rm -rf out; mkdir -p out/b; find out | sort > f
