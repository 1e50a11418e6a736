# construct: process-substitution
# shells: bash
sort < <(cat in.txt body) > out
