# construct: rename-directory
# cp -a sets times and permissions of directories.
mkdir -p src/s/t; cp header src/s/t/a; cp body src/b; cp -a src stage; sort stage/s/t/a stage/b > o; mv stage final
