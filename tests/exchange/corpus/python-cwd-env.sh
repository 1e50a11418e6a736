# construct: python
# needs: python3
mkdir sub; python3 cwd.py; cat sub/out > copy
