# construct: pipe
# shells: bash
ls nope |& cat > e
