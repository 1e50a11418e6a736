# construct: made again
# below: copies/body copies/in.txt
find copies -type f | sort >o1
rm -rf copies
mkdir copies
cat o1 body >both
