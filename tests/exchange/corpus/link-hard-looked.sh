# construct: link-hard
cp in.txt a; sh -c "sleep 0.3; stat -c %h a > s"; ln a b; sh -c "sleep 0.2; find . -links 2 -name a > t"; ln a c; rm b; stat -c %h a > u
