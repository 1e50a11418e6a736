# construct: umask
# whole: no
umask > /dev/null; sort in.txt > a; umask 000; cp a b; sort < in.txt > c
