# construct: link-hard
mkdir d; cp in.txt d/f; cp -al d e; mv e g; sh -c "sleep 0.3; head -n 1 body >> d/f"; sort g/f > o
