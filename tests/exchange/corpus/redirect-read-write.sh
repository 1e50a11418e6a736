# construct: redirect-read
cp in.txt f; tr a-z A-Z < in.txt 1<> f
