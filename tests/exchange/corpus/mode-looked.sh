# construct: mode
# changes: body
stat -c %a body >o1; chmod +x body; stat -c %a body >o2
