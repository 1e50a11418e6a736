# construct: environment
mkdir bin; cp tool.sh bin/mytool; chmod +x bin/mytool; PATH=$PWD/bin:$PATH; mytool in.txt > out
