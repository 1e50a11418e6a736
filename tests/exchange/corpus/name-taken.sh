# construct: name taken
# shells: dash bash
# whole: no
sh -c 'sleep 0.3; sort -r in.txt > out'; cp body mine; mv -n mine out; ln body out; sort out mine > both
