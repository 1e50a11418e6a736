# construct: shared-output
{ cat header; ls nope; sort body; } > out 2>&1
