# construct: substitution
x=$(sort in.txt | tee sorted | wc -l); head -n $x sorted > out
