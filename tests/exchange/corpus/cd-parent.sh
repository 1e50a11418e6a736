# construct: cd
mkdir -p d/e; cd d/e; sort ../../in.txt > ../up; wc -l ../up > here
