# construct: kind changes
# below: doc/a.md
ln -s doc cur
sh -c "rm cur; mkdir cur; cp in.txt cur/a.md"
cat cur/a.md >o
