# construct: redirect
# silent: yes
sort in.txt > s; uniq s o
