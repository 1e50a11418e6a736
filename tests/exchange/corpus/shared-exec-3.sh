# construct: shared-exec
exec 3> three; sort in.txt >&3; cat header >&3; exec 3>&-; wc -c three > n
