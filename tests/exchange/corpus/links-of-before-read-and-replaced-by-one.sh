# construct: links
# below: r1/v
# symbolic: r1 cur
# deletes: o1
sh -c "sort cur/v >o1; mkdir r2; cp body r2/v; ln -sfn r2 cur"
sort cur/v >o2
