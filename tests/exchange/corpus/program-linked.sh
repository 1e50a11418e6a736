# construct: program
# whole: no
ln -s /usr/bin/sort cat; ./cat in.txt > a; ./cat -r a > b; ln -s /usr/bin/rev sort; ./sort b > c
