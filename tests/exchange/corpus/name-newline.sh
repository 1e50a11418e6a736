# construct: names
sort in.txt > 'line
break'
wc -l < 'line
break' > n
cp ./'line
break' copy-'line
break'
cat < copy-'line
break' > last
