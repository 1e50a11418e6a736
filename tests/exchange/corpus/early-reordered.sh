# construct: opened early
cp in.txt a; exec 3<a; cp body a.new; mv a.new a; sort <&3 >o; cat a >p
