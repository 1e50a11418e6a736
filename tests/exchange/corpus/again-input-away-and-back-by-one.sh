# construct: made again
# deletes: both
# trials: unchanged
sh -c 'mv header h.old; mkdir header; cp h.old header/x; mv header w; sort w/x >header'
cat header w/x >both
