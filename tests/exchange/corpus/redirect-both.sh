# construct: redirect
ls nope in.txt > both 2>&1
