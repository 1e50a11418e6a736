# construct: times
# whole: no
touch -d 2001-01-01 old; mv old older; ln older oldest; find in.txt -newer oldest > newer
