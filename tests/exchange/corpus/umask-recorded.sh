# construct: umask
# umask: 077
# silent: yes
# whole: no
sort in.txt > a; mkdir d; cp a d/x
