# construct: program
# needs: busybox
ln -s "$(command -v busybox)" sort; ./sort in.txt > a; busybox rev a > b
