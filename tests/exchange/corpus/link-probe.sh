# construct: link
# Whether links can be made is tried with one that leads nowhere, as git does.
sh -c 'ln -s testing probe; test -L probe && rm probe; sort in.txt > out'
wc -l < out > n
