# construct: times
# whole: no
sort in.txt > a; sleep 0.1; sort body > b; sh -c 'if [ b -nt a ]; then cp b new; else cp a new; fi'
