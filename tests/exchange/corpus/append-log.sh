# construct: append
sort in.txt > a 2>> log; ls nope 2>> log; sort body > b 2>> log; ls nope2 2>> log; cat log a b > all
