# construct: tar
mkdir d; cp in.txt d; tar -cf - d | (mkdir e; cd e; tar -xf -); cat e/d/in.txt > out
