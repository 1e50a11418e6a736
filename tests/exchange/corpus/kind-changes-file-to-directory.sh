# construct: kind changes
# changes: in.txt
cp in.txt f
sh -c "rm f; mkdir f; cp body f/x"
