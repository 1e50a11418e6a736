# construct: shared-input
{ read first; cat > rest; } < in.txt
