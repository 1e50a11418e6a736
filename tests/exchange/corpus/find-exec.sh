# construct: find
mkdir d; find . -maxdepth 1 -name "*.txt" -exec cp {} d \; ; cat d/in.txt > out
