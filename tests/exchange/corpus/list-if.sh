# construct: list
if grep -q b in.txt; then sort in.txt > yes; else sort body > no; fi
