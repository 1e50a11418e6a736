# construct: listing
mkdir d; cp in.txt d/1; ls d > list; cp body d/2; ls d > list2
