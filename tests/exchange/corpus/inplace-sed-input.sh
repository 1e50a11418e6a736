# construct: inplace-sed
sort keep.txt > before; sed -i s/k/X/ keep.txt; sort keep.txt > after
