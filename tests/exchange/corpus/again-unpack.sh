# construct: made again
mkdir tree tree/sub
sh -c 'while read -r name rest; do cp header "tree/sub/$name.x"; done <in.txt'
find tree -type f > found
sort found > names
