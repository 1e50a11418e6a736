# construct: script
sed 's/b/@NAME@/' in.txt > conf.h.in; cat > config.status <<'END'
sed 's/@NAME@/prog/' conf.h.in > conf.h.tmp
if cmp -s conf.h.tmp conf.h 2>/dev/null; then rm -f conf.h.tmp; else mv -f conf.h.tmp conf.h; fi
END
sh config.status; sh config.status; cat conf.h > seen
