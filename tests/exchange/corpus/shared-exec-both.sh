# construct: shared-exec
exec > log 2>&1; cat header; ls nope; sort body
