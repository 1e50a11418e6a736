# construct: kind changes
# whole: no
# shells: dash bash
mkdir out; touch out/x; ls out > l; rm -r out; sh -c 'seq 5; sleep 0.5; seq 6 10' > out; sh -c 'sleep 0.2; wc -l < out' > o9; cp out o8
