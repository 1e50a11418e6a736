# construct: links
# symbolic: in.txt cur
# A link of before gets another name: who looks for that waits for it.
sh -c 'if [ -f cur ]; then sort cur; else cat header; fi' > o1
mv cur prev
sh -c 'if [ -f prev ]; then sort prev; else cat header; fi' > o2
