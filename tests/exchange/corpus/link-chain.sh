# construct: link
# needs: python3
# shells: dash bash
# whole: no
# silent: yes
sort -r in.txt > d1; sort in.txt > d2; sh -c 'sleep 0.3; ln -s d1 c1'; sh -c 'sleep 0.3; ln -s c1 v'; python3 -c 'open("o", "w").write(open("v").read())'
sh -c 'ln -sfn d2 v'; python3 -c 'open("o2", "w").write(open("v").read())'
