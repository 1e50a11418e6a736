# construct: made again
# whole: no
# symbolic: in.txt lin
# switched: body lin
sort lin >first
cat header lin >second
wc -l <first >n
tr a b <header >other
