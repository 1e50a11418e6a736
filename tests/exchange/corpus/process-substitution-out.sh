# construct: process-substitution
# shells: bash
sort in.txt | tee >(wc -l > n) > out; sleep 0.2
