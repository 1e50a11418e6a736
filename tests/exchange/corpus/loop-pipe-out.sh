# construct: loop-pipe
for f in body header; do cat $f; done | sort > out
