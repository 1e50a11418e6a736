# construct: made again
# needs: python3
# changes: in.txt
sh -c "rm -f none*; sort -r in.txt >a"
/usr/bin/python3 -c 'import os, shutil; os.makedirs("inst/deep"); shutil.copy("a", "inst/deep"); shutil.copy("a", "inst")'
sort inst/a inst/deep/a >b
