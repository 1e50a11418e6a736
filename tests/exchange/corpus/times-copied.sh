# construct: times
# whole: no
touch -d 2001-01-01 old; cp -p old older; install -p -m 640 old oldest; find in.txt -newer older -newer oldest > newer
