# construct: link
cp in.txt v1; cp body v2; ln -s v1 now; cat now > a; ln -sfn v2 now; cat now > b
