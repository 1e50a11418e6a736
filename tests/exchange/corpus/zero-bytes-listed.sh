# construct: directory
mkdir logs few
sort in.txt >sorted 2>logs/err
grep zzzz in.txt >few/none
ls logs few >names
(cd few; find . -type f | LC_ALL=C sort >../found)
