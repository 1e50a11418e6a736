# construct: cd-subshell
mkdir d; (cd d; sort < ../in.txt > ../out)
