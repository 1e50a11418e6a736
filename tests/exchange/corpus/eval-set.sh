# construct: script
set -- in.txt body; for f; do sort "$f" > "$f.s"; done; eval "cat $1.s $2.s > 'both s'"; wc -l < "both s" > n
