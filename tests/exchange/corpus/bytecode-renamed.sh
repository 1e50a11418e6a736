# construct: caches of interpreters
# needs: python3
mkdir pk && echo 'v = 3' >pk/__init__.py && cat body >pk/words
python3 -m compileall -q --invalidation-mode unchecked-hash pk
mv pk/__pycache__ bytecode
cat pk/words header >both
