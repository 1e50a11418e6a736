# construct: shared
exec > log; cat header; sort body
