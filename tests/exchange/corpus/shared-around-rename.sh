# construct: shared
# below: d/f
# A command that takes away what another one lists, between two that share an open file.
{ ls d; mv d/f d/g; ls d; } > o
