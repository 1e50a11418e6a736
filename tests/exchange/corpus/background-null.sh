# construct: background
# whole: no
(echo a > /dev/null; sort in.txt > x) & (echo b > /dev/null; sort body > y) & wait; cat x y > z
