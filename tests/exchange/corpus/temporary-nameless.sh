# construct: temporary
# silent: yes
cat in.txt | tac > o; perl -e 'open F, "+>", undef; print F "x\n"; seek F, 0, 0; print <F>' > p; python3 -c 'import tempfile; f = tempfile.TemporaryFile(); f.write(b"y"); f.seek(0); print(f.read())' > q
