# construct: xargs
ls body header | xargs -n 1 sh -c 'sort "$0" > "$0.s"'; cat body.s header.s > all
