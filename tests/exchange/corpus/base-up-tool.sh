# construct: base
# in: a/b
# at: .
# whole: no
sh ../../tool.sh ../../in.txt > upper; python3 ../../up.py ../../in.txt ../u
