# construct: base
# in: a/b
# at: .
# whole: no
top=$(cd ../.. && pwd); sort "$top/in.txt" > "$top/o1"; cp "$top/o1" "$top/a/o2"; sh -c "cat '$top/o1' > '$top/o3'"
