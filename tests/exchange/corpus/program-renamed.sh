# construct: program
# shells: bash
# whole: no
(exec -a foo sort in.txt > a); (exec -a cat rev < a > b); cat b > c
