# construct: again
# symbolic: in.txt lf
# switched: body lf
sort <lf >o
cat lf >p
