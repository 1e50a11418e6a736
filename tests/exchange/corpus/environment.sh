# construct: environment
LC_ALL=C sort mixed.txt > a; GREETING=hi sh -c 'printenv GREETING' > b
