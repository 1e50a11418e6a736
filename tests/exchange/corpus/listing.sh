# construct: listing
sort in.txt > a; ls *.txt a > list; cp a b
