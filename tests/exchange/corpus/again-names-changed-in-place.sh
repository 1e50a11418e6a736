# construct: made again
# below: 'd/a b' d/c:d 'd/e,f' 'd/g#h' 'd/i$j' d/k%l
for f in d/*; do tail -n 1 header >>"$f"; done
cat d/* >o
