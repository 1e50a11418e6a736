# construct: subshell
mkdir d; (cd d && sort ../body > s && wc -l < s > n)
