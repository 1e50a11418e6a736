# construct: list
case $(cat header) in *h*) sort in.txt > h;; *) sort body > other;; esac
