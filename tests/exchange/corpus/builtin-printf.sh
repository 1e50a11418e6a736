# construct: builtin
printf "b\na\n" | sort > out
