# construct: inplace
cp in.txt f; touch f; chmod 600 f; cat f > g
