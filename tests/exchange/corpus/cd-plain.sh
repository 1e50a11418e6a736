# construct: cd
mkdir d; cp in.txt d; cd d; sort in.txt > s; cd ..; cat d/s > out
