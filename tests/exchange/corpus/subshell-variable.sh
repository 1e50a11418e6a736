# construct: subshell
(x=1; sort body > a$x); sort header > b
