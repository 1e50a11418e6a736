# construct: tar
mkdir from from/y u; cp in.txt from/x; ln -s ../x from/y/l; tar --mtime=@0 -cf t.tar from; tar -xf t.tar -C u; cat u/from/y/l >out
