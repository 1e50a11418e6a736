# construct: environment
# record: --env PATH
mkdir bin; cp tool.sh bin/mytool; chmod +x bin/mytool; PATH=$PWD/bin:$PATH; export PATH; mytool in.txt > a; cp a b
