# construct: link
ln -s ../nothing.md nowhere
readlink nowhere >o
