# construct: shared
# below: d/f
(find d; mv d e; find e) | sort -r > o
