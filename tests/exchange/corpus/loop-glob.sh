# construct: loop
mkdir d; for f in *.txt; do sort "$f" > "d/$f"; done
