# construct: coprocess
# shells: bash
coproc tr a-z A-Z; cat in.txt >&${COPROC[1]}; exec {COPROC[1]}>&-; cat <&${COPROC[0]} > out; wait
