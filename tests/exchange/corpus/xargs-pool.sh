# construct: xargs
ls -1 in.txt body header | xargs -P 4 -I{} sh -c 'sort {} > {}.sorted'; cat body.sorted in.txt.sorted > all
