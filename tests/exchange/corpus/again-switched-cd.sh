# construct: again
# below: real/x other/x
# symbolic: ../in.txt real/f ../body other/f real cur
# switched: other cur
(cd cur; sort f >../o)
cp o p
