# construct: times
cp in.txt f; touch -r body f; cp -p f g; touch -c -d 2001-01-01 g; find g -newer f > newer; find f -newer g >> newer
