# construct: shared
# below: d/f
{ stat -c %h d/f; ln d/f q; stat -c %h q; } > o
