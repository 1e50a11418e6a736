# construct: base
# in: a/b
# whole: no
cp run.sh c; (mkdir d; cd d; cp ../c e); sort "$PWD/c" > "$PWD/f"; python3 -c 'import os; open("g", "w").write(str(os.path.exists("../b/f")))'
