# construct: mktemp
mkdir tmp; sort -T tmp -S 1k in.txt body > out; ls tmp > left; rmdir tmp
