# construct: cd
mkdir real; ln -s real link; cd link; sort ../in.txt > out
