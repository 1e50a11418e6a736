# construct: made again
# below: src/x
# then: test ! -d w || rm -r w
# undo: true
mv src w
sort w/x >o
