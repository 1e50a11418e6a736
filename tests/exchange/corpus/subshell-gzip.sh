# construct: subshell
(cat header; sort body) | gzip -n > out.gz
