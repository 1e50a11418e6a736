# construct: pipe-stderr
ls nope 2>&1 >o | cat > e
