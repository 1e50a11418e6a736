# construct: link
ln -s later/v current; readlink current > before; touch -h current; mkdir -p later/v; cp body later/v/s; cat current/s > out
