# construct: made again
# needs: python3
# appears: site.cfg
/usr/bin/python3 -c 'open("out", "w").write("".join(open(name).read() for name in ("body", "site.cfg") if __import__("os").path.exists(name)))'
tr a-z A-Z <out >upper
