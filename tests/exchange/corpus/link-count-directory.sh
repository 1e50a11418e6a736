# construct: link-hard
mkdir d; sh -c "sleep 0.3; stat -c %h d > s"; mkdir d/e; stat -c %h d > t
