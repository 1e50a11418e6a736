# construct: shared
{ { cat header; cat body; } > inner; cat in.txt; } > outer
