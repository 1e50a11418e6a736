# construct: made again
# below: d1/f d2/g
mv d1 t; mv d2 d1; mv t d2; ls d1 d2 > l
