# construct: process
# shells: bash
paste <(sort in.txt) <(sort body) > out
