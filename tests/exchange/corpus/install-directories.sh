# construct: install
sort in.txt > o; install -D -m 644 o usr/share/x/o; install -D -m 600 header usr/lib/h; cat usr/share/x/o usr/lib/h > both
