# construct: cd
mkdir sub; cp tool.sh sub/t; chmod +x sub/t; cp in.txt sub/i; (cd sub && ./t i > o && cp o ../top); cat top > fin
