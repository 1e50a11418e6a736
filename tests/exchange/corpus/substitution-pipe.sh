# construct: substitution
x=$(sort in.txt | head -n 1); grep "$x" in.txt > out
