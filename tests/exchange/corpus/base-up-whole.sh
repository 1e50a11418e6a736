# construct: base
# in: scripts
# at: .
echo x > ../o1; sort ../in.txt > ../o2; read x < ../body; echo "$x" >> ../o1
