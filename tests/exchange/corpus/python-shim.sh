# construct: python
# shells: dash
# needs: python3
# apart: 2
exec sh shim.sh
