# construct: background
(sleep 0.2; cp in.txt late) & cp body early; wait; cat early late > all
