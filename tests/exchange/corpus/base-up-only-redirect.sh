# construct: base
# in: a/b
# at: a
# whole: no
sort run.sh > ../o1; wc -c < ../o1 > o2
