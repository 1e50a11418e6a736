# construct: awk
# whole: no
awk '{print > ($1 ".part")}' in.txt; cat aa.part b.part > joined; sed -i s/a/x/ aa.part; cat aa.part >> joined
