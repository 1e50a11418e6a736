# construct: made again
mkdir tree && cp in.txt tree/a && cp body tree/b
cp -r tree site
sort header > site/h
find site -type f | sort > list
