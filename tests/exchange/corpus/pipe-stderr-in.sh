# construct: pipe-stderr
ls nope 2>&1 | cat > e
