# construct: made again
mkdir real && cp body real/data
ln -s real share
cat share/data >out
rm share
mkdir share
ln -s ../real/data share/data
cat share/data header >both
