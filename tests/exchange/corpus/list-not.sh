# construct: list
! grep -q nothing in.txt && cp body copy
