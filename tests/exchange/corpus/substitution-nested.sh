# construct: substitution
f=$(basename $(ls in.txt)); sort $f > out
