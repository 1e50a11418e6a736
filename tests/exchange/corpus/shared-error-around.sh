# construct: shared
# below: d/f
# What is listed between two commands that share standard error.
cp in.txt q
exec 2> /dev/null
rm q
ls > l2
cat q in.txt > c || :
