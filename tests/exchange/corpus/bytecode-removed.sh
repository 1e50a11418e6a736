# construct: caches of interpreters
# needs: python3
mkdir pk && cp body pk/__init__.py && echo 'v = 3' >pk/__init__.py
PYTHONDONTWRITEBYTECODE= python3 -m compileall -q pk
python3 -c 'import pk; print(pk.v)' >out
rm -rf pk/__pycache__
cat out header >both
