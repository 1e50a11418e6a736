# construct: directory
mkdir early
ls early >before
mkdir early
cat before in.txt >after
