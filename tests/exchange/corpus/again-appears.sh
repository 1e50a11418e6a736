# construct: made again
# appears: conf.local
sh -c 'if test -f conf.local; then cat conf.local; fi; sort in.txt' >out
wc -l <out >n
sort body >other
