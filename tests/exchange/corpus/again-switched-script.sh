# construct: made again
# symbolic: in.txt lin . here
# switched: body lin
sh -c 'sort "$1" >one; tr a b <here/body >two' _ here/lin
wc -l <one >n
