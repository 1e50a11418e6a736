# construct: wrapper
# needs: setsid stdbuf
nice -n 1 sort in.txt > a; nohup sort body > b 2> err; timeout 5 setsid -w cat a b > c; env -i /bin/cat c > d; stdbuf -oL sort d > e; env -u X LC_ALL=C sort mixed.txt > f
