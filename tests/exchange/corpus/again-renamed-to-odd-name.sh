# construct: made again
# refuses: no
# whole: no
# changes: in.txt
# deletes: c d
sort in.txt >t
mv t 'c d'
cp body u
mv u 'e!;f'
