# construct: loop
cp body f; until [ $(wc -c < f) -gt 20 ]; do cat body >> f; done
