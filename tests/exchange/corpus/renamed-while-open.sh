# construct: rename
perl -e 'open F, ">", "res"; rename "res", "res2"; print F "y"'; cp res2 o
