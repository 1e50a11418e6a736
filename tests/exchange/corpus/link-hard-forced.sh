# construct: link-hard
cp in.txt a; ln -f a body; sh -c "sleep 0.3; head -n 1 header >> body"; sort a > o
