# construct: shared
{ cat header; sort body; } > out
