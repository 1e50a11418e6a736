# construct: mktemp
t=$(mktemp ./t.XXXXXX); sort in.txt > $t; cp $t out; rm $t
