# construct: made again
sort in.txt > tool
chmod 700 tool
cp tool early
chmod 755 tool
cp tool late
