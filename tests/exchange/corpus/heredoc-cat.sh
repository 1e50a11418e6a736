# construct: heredoc
cat > out <<E
line
E
sort out > sorted
