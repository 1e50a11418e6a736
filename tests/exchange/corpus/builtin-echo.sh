# construct: builtin
echo hello > a; cat a in.txt > b
