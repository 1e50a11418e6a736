# construct: rename
# changes: in.txt
mkdir d
cp in.txt d/v
python3 -c "import os
try: os.rename('d/v', 'd/s/v')
except OSError: pass"
mkdir d/s
