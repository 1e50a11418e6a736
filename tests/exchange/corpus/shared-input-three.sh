# construct: shared-input
{ head -c 1 > a; head -c 2 > b; cat > c; } < body
