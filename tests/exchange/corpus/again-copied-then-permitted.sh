# construct: made again
cp in.txt tool
chmod 755 tool
cp tool copy
