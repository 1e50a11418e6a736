# construct: python
# needs: python3
python3 mp.py; cat part0 part1 part2 > all
