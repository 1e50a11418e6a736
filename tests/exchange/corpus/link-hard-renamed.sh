# construct: link-hard
cp in.txt a; ln a a.tmp; mv a.tmp b; sh -c "sleep 0.3; head -n 1 body >> b"; sort a > o
