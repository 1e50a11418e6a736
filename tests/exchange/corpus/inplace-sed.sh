# construct: inplace
cp in.txt f; sed -i s/b/X/ f; sort f > out
