# construct: timeout
timeout 20 sort in.txt > out; nice sort body > b
