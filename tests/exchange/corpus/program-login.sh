# construct: program
# shells: bash
# whole: no
(exec -a -sh sh tool.sh in.txt > a); cp a b
