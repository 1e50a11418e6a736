# construct: link
mkdir r1 r2; cp in.txt r2/x; ln -s r1 cur; find cur/ | wc -l > n1; ln -s r2 cur.tmp; mv -T cur.tmp cur; find cur/ | sort > n2
