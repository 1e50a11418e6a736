# construct: descriptor
# shells: bash
exec {fd}> three; sort in.txt >&$fd; exec {fd}>&-; cp three four
