# construct: scratch
# shells: dash bash
# whole: no
sort -r in.txt > /dev/shm/iotrail-corpus-$$; cp /dev/shm/iotrail-corpus-$$ out; rm /dev/shm/iotrail-corpus-$$
