# construct: builtin
# silent: yes
# whole: no
sort in.txt > a; : > a; sort body >> a; : > empty; ls > names
