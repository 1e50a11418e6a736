# construct: python
# shells: dash
# needs: python3
# silent: yes
# whole: no
exec python3 made.py
