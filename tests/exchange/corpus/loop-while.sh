# construct: loop
i=0; while [ $i -lt 3 ]; do cp body b$i; i=$((i+1)); done
