# construct: base
# in: x/y
# at: .
# through: link
# whole: no
cd ../..; sort in.txt > "$PWD/o"; cd x/y; cp "$PWD/../../o" "$PWD/../p"; sh -c "cat $PWD/run.sh > $PWD/q"
