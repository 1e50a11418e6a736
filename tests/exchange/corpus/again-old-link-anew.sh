# construct: made again
# symbolic: data-1 current
cp body data-1; cp header data-2
ls -l current | sed 's/.*-> //' >o1
ln -sfn data-2 current
cat o1 current >both
