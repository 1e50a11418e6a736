# construct: redirect-descriptor-4
sh tool4.sh 4< in.txt > out
