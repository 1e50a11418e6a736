# construct: loop
mkdir -p mirror; for f in in.txt body header; do cmp -s $f mirror/$f || cp -p $f mirror/.$f.tmp && mv mirror/.$f.tmp mirror/$f; done
ls mirror > list
