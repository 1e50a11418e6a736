# construct: split
split -l 1 body part-; cat part-aa part-ab > all
