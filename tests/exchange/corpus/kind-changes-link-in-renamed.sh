# construct: kind changes
# changes: in.txt
mkdir -p t/lib
cp in.txt t/lib/v
sh -c "mv t u; mv u/lib u/LIB; ln -s LIB u/lib"
