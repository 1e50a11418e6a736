# construct: made again
# needs: python3
mkdir here; cp body here/v
python3 -c '
import os
os.mkdir("new")
open("new/v", "w").write(open("here/v").read() + open("in.txt").read())
os.rename("here", "old"); os.rename("new", "here")'
cat here/v >o
rm -rf old
