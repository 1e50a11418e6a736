# construct: base
# in: a/b
# at: .
# through: link
# whole: no
top=$(cd ../.. && pwd); sort "$top/in.txt" > "$top/o1"; cp "$PWD/../../in.txt" "$PWD/o2"; cp "$top/o1" "$PWD/../o3"
