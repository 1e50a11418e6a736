# construct: directory
mkdir d; rmdir d/x 2> /dev/null || cp in.txt d/f; rmdir d 2> /dev/null || cp in.txt f; rm d/f; rmdir d; rmdir d 2> /dev/null || cp in.txt g; mkdir d
