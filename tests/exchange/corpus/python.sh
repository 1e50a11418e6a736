# construct: python
# needs: python3
python3 up.py in.txt out; sort out > sorted
