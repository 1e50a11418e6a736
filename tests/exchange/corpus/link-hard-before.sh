# construct: link-hard
# linked: in.txt twin
sh -c "sleep 0.3; head -n 1 body >> twin"; sort in.txt > o
