# construct: redirect
{ sh both.sh 3>&1 1>&2 2>&3 3>&-; } > o 2> e
