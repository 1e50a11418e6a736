# construct: subshell
(cat header && sort body) > out
