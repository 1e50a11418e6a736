# construct: made again
# changes: header
# deletes: o
cp in.txt t; sed s/h/j/ header >t; cat t >o; mv t keep; ln -s body t; cat t >p
