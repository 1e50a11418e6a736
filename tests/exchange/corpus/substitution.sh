# construct: substitution
n=$(wc -l < in.txt); head -n $n body > out
