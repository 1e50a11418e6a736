# construct: trap
sh worker.sh & sleep 0.5; kill -TERM $!; wait; cat in.txt > out
