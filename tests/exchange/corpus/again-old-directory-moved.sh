# construct: made again
# below: d/f
mv d e; ls e > l; cp -r e g
