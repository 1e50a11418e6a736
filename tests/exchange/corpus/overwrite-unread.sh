# construct: overwrite
sort body > keep.txt
