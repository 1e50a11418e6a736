# construct: shared
# below: d/f
exec > o
ls d
cp in.txt d/n
ls d | wc -l
gzip -n d/f
ls d
