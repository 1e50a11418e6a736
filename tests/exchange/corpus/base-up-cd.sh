# construct: base
# in: a/b
# at: .
# whole: no
cd ..; sort ../in.txt > s; cd ..; cp a/s top; cat a/s body > a/b/t
