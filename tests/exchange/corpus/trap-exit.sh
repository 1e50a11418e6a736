# construct: trap
trap "rm -f tmp" EXIT; sort in.txt > tmp; cp tmp out
