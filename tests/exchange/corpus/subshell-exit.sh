# construct: subshell
(sort body > out; exit 3) || cp out failed
