# construct: link-hard
cp in.txt a; ln a b; mv b c; sh -c "sleep 0.3; sed -i 1d c"; sort a > o; truncate -s 4 a
