# construct: directory
# A directory is made beside the old one and renamed into its place, with what is in it.
mkdir site site/css
cp in.txt site/a
cp body site/css/s
cp -r site live.new
mv live.new live
sort live/a > out
