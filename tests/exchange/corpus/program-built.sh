# construct: program
cp tool.sh prog; chmod +x prog; ./prog in.txt > out
