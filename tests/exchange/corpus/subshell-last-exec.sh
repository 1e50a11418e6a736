# construct: subshell-last
(sort body > a; exec wc -l a > n); cat n > m
