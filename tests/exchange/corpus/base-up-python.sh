# construct: base
# in: scripts
# at: .
# whole: no
python3 -c 'open("../o1", "w").write("x\n")'; mkdir ../made; cp ../o1 ../made/o2; mv ../made ../other; ln -s ../other/o2 ../l; cat ../l > o3
