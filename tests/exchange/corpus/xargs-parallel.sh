# construct: xargs
ls body header in.txt | xargs -P 3 -n 1 sh -c 'sort "$0" > "$0.s"'; cat body.s header.s in.txt.s > all
