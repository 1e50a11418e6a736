# construct: names
sort in.txt > 'it'\''s'
wc -l < 'it'\''s' > n
cp ./'it'\''s' copy-'it'\''s'
cat < copy-'it'\''s' > last
