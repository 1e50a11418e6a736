# construct: names
# changes: in.txt
python3 -c "import os; os.makedirs('t/q'); open('t/q/f', 'w').write(open('in' + '.txt').read()); os.rename('t', 'T')"
mv T/q q
rmdir T
