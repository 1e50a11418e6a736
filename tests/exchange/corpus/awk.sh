# construct: awk
awk '{ print $1 > ("w-" NR) }' body; cat w-1 w-2 > all
