# construct: subshell
(cp body y; cp y z) & wait; cat y z > all
