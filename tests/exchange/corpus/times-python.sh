# construct: times
sort in.txt > a; sleep 0.05; sort body > b; python3 -c "import os; open(\"p\",\"w\").write(str(os.path.getmtime(\"a\") < os.path.getmtime(\"b\")))"
