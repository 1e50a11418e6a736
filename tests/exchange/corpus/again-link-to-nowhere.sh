# construct: links
# symbolic: nowhere lost in.txt there
# A link that leads nowhere is an input, too, though make and Snakemake take it for a missing file.
readlink lost > where
mkdir copy
cp -a lost there copy/
ls copy | wc -l > number
cat where number > both
