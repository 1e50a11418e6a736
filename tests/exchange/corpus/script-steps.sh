# construct: script
sh step1.sh; sh step2.sh; cat two > out
