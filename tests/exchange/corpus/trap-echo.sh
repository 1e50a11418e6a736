# construct: trap
trap "echo bye > bye" EXIT; sort in.txt > out
