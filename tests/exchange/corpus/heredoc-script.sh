# construct: heredoc
sh <<E
sort in.txt > a
cp a b
E
