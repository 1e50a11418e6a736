# construct: directory
# silent: yes
sh -c "sleep 0.5; ls d/x > l 2>&1; true"; sh -c "mkdir d; cp in.txt d/x"
