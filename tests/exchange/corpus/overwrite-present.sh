# construct: overwrite
# shells: dash bash
# whole: no
# silent: yes
sh -c 'if [ -s keep.txt ]; then n=1; else n=2; fi; head -n $n in.txt > keep.txt'; sh -c 'test -f body || exit 4; sort in.txt > body'
