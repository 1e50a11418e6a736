# construct: background
{ cp body y; cp y z; } & wait; cat z > w
