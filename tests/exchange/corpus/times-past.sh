# construct: times
# whole: no
touch -d 2001-01-01 old; find in.txt -newer old > newer; touch -c old; find old -newer in.txt > again
