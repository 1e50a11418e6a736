# construct: permissions
# below: d/f
# A directory of before, whose permissions change: who uses it waits for that, and the other way round.
chmod 700 d
cp -a d e
stat -c %a e > o1
chmod g+s,o+rx d
mkdir d/sub
stat -c %a d d/sub > o2
chmod g-s d
mkdir d/other
stat -c %a d d/other > o3
