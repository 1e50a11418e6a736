# construct: directory
# whole: no
install -d out/bin; install -m 755 tool.sh out/bin/tool; out/bin/tool in.txt > up; mkdir -p deep/er; install -m 644 header deep/er/h; cat deep/er/h up > final
