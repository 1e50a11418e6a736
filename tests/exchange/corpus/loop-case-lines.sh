# construct: loop
sort in.txt | while read -r a b; do case $a in aa) cp header "got.$a";; *) ;; esac; done
cat got.aa > final
