# construct: rename
sh -c "cat in.txt; sleep 0.4; cat body" > log & sleep 0.2; mv log log.1; wait; sort log.1 > o
