# construct: made again
# below: d/1 d/e/2
set -e
cp -a d d.new
cat body >d.new/index
rm d.new/1
echo new >d.new/q
mv d d.old
mv d.new d
rm -r d.old
find d | sort >map
