# construct: shared
cp in.txt log; { cat header; sort body; } >> log
