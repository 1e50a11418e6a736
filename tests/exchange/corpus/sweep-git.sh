# construct: directories that are swept
# needs: git
git init -q . && git add -A && git -c user.name=a -c user.email=b commit -q -m x --date 2026-01-01T00:00:00Z
sort body >a
cat a header >both
git clean -fdq -e both
git ls-files >known
cp both last
rm -rf .git
