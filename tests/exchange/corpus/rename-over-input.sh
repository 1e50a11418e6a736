# construct: rename-over
sort keep.txt > keep.tmp; mv keep.tmp keep.txt
