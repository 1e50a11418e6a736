# construct: python
# needs: python3
python3 sp.py; cp sub.txt copy
