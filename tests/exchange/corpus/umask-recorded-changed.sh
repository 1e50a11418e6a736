# construct: umask
# umask: 002
# silent: yes
# whole: no
sort in.txt > a; umask 027; mkdir d; cp a d/x; sh -c "umask 002; cp a b"
