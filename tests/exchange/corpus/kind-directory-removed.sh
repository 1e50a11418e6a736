# construct: kind changes
# whole: no
# shells: dash bash
mkdir out; rmdir out; sh -c 'sleep 0.5; sort in.txt > out'; sort out > o1; mkdir d; cp in.txt d/x; mv d e; sh -c 'sleep 0.5; sort body > d'; sort d > o2; rm d; mkdir d; sh -c 'sleep 0.5; sort in.txt > d/x'; sort d/x > o3
