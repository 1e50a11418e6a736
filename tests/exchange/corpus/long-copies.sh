# construct: long line
seq 3000 | sed 's/.*/copied-&-with-a-name-that-is-not-short/' | xargs tee < /dev/null
cat copied-*-with-a-name-that-is-not-short in.txt > all
