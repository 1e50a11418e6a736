# construct: directory
# A file has two names that no call mentions, because directories above it are renamed.
mkdir d
mkdir d/e
cp in.txt d/e/f
mv d g
mv g h
ls h/e > list
