# construct: substitution
# shells: bash
sort in.txt | tee >(wc -l > count) >(tr a-z A-Z > upper) > plain; sleep 0.5; cat plain > final
