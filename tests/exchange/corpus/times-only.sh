# construct: times
# whole: no
cp in.txt f; touch -c -d 2001-01-01 f; touch -c -d 2002-01-01 body; find f -newer body > a; find body -newer f > b
