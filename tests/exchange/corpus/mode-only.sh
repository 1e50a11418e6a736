# construct: inplace
# whole: no
cp tool.sh t; chmod +x t; ./t in.txt > out; chmod 600 out; cp out again
