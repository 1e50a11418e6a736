# construct: kind changes
# changes: in.txt
mkdir -p t/lib
sh -c "mv t u; rmdir u/lib; cp in.txt u/lib"
