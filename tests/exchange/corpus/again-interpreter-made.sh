# construct: made again
cat /bin/cat > ip
chmod 755 ip
env printf '#!./ip\nline1\nline2\n' > s
chmod 755 s
sh -c './s > r1'
cat /usr/bin/tac > ip
./s > r2
