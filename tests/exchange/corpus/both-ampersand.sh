# construct: both
# shells: bash
ls nope in.txt &> both; sort in.txt &>> both
