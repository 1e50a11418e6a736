# construct: made again
mkdir m
ln -s m/../in.txt v
sh -c 'sort v > n 2>/dev/null || cp body n'
rmdir m
