# construct: python
# shells: dash
# needs: python3
# apart: 2
# silent: yes
exec python3 popen.py
