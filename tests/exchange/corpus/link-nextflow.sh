# construct: link
mkdir -p work/aa work/bb; (cd work/aa; sort ../../in.txt > out.txt); (cd work/bb; ln -s ../aa/out.txt out.txt; wc -l out.txt > count.txt); mkdir results; cp work/bb/count.txt results
