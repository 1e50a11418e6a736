# construct: fifo
# shells: dash bash
# whole: no
# silent: yes
mkfifo pipe; sort in.txt > out
