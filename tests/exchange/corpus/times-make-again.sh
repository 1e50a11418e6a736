# construct: times
# whole: no
sleep 0; make -s -f Makefile.t > first; make -s -f Makefile.t > second; touch body; make -s -f Makefile.t > third
