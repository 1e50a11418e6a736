# construct: kind changes
# whole: no
# shells: dash bash
mkdir e; cp in.txt e/x; ln -s e L; cat L/x > o1; rm L; sh -c 'sleep 0.5; sort in.txt > L'; sort L > o2; rm L; ln -s body L; cat L > o3; rm L; mkdir L; sh -c 'sleep 0.5; cp header L/y'; cat L/y > o4
