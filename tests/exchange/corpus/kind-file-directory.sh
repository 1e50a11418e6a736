# construct: kind changes
# whole: no
# shells: dash bash
sh -c 'sleep 0.5; cp in.txt a'; cp a b; rm a; mkdir a; sh -c 'sleep 0.5; sort in.txt > a/x'; wc -l a/x > n; ls a > l; rm -r a; cp body a; cat a > c
