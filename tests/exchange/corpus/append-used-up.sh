# construct: append
# The first job is refused, not the second, where its input is used up.
cp header report; cat body >> report; gzip -n body; wc -l < report > n
