# construct: redirect
exec > log 2>&1; sort in.txt; ls nope; sort body
