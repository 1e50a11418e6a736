# construct: cd
mkdir d; cp in.txt d/i; cd d; mv ../d ../old; mkdir ../d; cp ../body ../d/i; sort <i >../s; cat ../header >>log
