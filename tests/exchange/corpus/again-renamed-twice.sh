# construct: made again
# changes: in.txt
# deletes: o
exec python3 -c "
import os, subprocess
run = lambda *words, **more: subprocess.run(words, check=True, **more)
os.mkdir('d'); run('cp', 'in.txt', 'd/x'); os.rename('d', 'f'); run('cp', 'f/x', 'o'); os.rename('f', 'g'); run('cp', 'x', 'z', cwd='g')"
