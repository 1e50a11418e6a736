# construct: overwrite
cat keep.txt > old; sort body > keep.txt
