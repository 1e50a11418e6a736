# construct: kind changes
# whole: no
# shells: dash bash
cp in.txt a; rm a; sh -c 'test -e a && seq 1 || seq 2' > o1; sh -c 'sleep 0.5; sort in.txt > a'; wc -l a > o2; rm a; sh -c 'sleep 0.5; cp body a'; cat a > o3
