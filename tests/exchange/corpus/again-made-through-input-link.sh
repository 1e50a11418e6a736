# construct: made again
# refuses: no
# whole: no
# below: real/in.txt
# symbolic: real data
# changes: in.txt
cp in.txt data/copied
sort data/in.txt -o data/sorted
python3 up.py data/copied data/upper
ln data/sorted data/twin
tee data/told <data/copied
cp data/copied data/moving; mv data/moving data/moved
mkdir data/tree; cp data/copied data/tree/x
cp -r data/tree data/forest
(cd data; cp copied inside)
cat data/tree/x data/forest/x data/inside data/moved >o
