# construct: heredoc
for n in 1 2 3; do cat > conf.$n <<END
name=$n
END
done
cat conf.1 conf.2 conf.3 | sort -r > confs
