# construct: made again
# then: chmod 755 tool.sh
# undo: chmod 644 tool.sh
sort in.txt >o
sh -c "./tool.sh body >p 2>/dev/null || cp body p"
sh -c "if [ -x tool.sh ]; then echo yes; else echo no; fi >q"
