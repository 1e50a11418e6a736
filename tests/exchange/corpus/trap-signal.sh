# construct: trap
trap "cp in.txt got" USR1; kill -USR1 $$; sort body > out
