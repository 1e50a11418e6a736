# construct: inplace
cp in.txt buf; sort buf > s1; truncate -s 3 buf; cat buf > s2; truncate -s 0 buf; cat body >> buf; cat buf s1 s2 > all
