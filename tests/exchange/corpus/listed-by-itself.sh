# construct: python
# shells: dash bash
# needs: python3
# A program lists a directory and then makes files in it.
mkdir d
cp in.txt d/a
python3 -c "import os; names = sorted(os.listdir('d')); open('d/names', 'a').write(' '.join(names) + open('in.txt').read())"
sort d/names > out
