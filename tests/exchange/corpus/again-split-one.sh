# construct: made again
sh -c 'mkdir parts; split -l 1 in.txt parts/p.; exit 0'
ls -R parts > names
