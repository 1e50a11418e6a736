# construct: made again
# symbolic: header link
# trials: unchanged
/bin/sed -i s/h/five/ header
/bin/sed -i --follow-symlinks s/five/four/ link
