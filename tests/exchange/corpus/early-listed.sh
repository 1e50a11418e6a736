# construct: opened early
exec 3>a; ls >l; sort in.txt >&3; exec 3>&-
