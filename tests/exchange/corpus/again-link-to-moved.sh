# construct: made again
# symbolic: header link
# trials: unchanged
mv header old
sort -r old >header
/bin/sed -i --follow-symlinks s/h/j/ link
