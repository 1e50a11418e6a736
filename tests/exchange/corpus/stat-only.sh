# construct: stat
sort in.txt > a; stat -c %s a > size; cat body >> a
