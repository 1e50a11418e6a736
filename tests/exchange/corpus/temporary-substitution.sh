# construct: temporary
# shells: bash
sort in.txt > >(tac > t); wait; sleep 0.3; diff <(tac t) <(sort in.txt) > d
