"""Python and Node.js: children, threads, pools, signals, event loops."""
import sys

from harness import scenario

PYTHON = r"""
import asyncio, concurrent.futures, multiprocessing, os, pathlib, shutil, signal, socket, subprocess, sys, tempfile, threading, time

def square(x):
    return x * x, os.getpid() != os.getppid()

def main():
    print(subprocess.run(["sh", "-c", "cat; echo err >&2; exit 5"], input=b"in", capture_output=True))
    print(subprocess.run("exit 3", shell=True).returncode, subprocess.call(["false"]))
    try:
        subprocess.run(["sleep", "60"], timeout=0.1)
    except subprocess.TimeoutExpired as expired:
        print(type(expired).__name__)
    child = subprocess.Popen(["sleep", "60"]); child.send_signal(signal.SIGTERM); print(child.wait())
    for method in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(3) as pool:
            print(method, pool.map(square, range(20)))
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        print(sum(pool.map(lambda i: len(pathlib.Path("/etc/passwd").read_bytes()) * i, range(200))) > 0)
    lock, total = threading.Lock(), [0]
    def add():
        for _ in range(500):
            with lock: total[0] += 1
    threads = [threading.Thread(target=add) for _ in range(20)]
    [t.start() for t in threads]; [t.join() for t in threads]; print(total)
    caught = []
    signal.signal(signal.SIGUSR1, lambda number, frame: caught.append(number))
    signal.signal(signal.SIGALRM, lambda number, frame: caught.append(number))
    os.kill(os.getpid(), signal.SIGUSR1); signal.setitimer(signal.ITIMER_REAL, 0.05); time.sleep(0.2); print(caught)
    async def talk():
        server = await asyncio.start_server(lambda r, w: serve(r, w), "127.0.0.1", 0)
        async def serve_one(i):
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.write(b"%d\n" % i); await writer.drain(); answer = await reader.readline(); writer.close(); return int(answer)
        async def serve(reader, writer):
            writer.write(b"%d\n" % (2 * int(await reader.readline()))); await writer.drain(); writer.close()
        talk.serve = serve
        globals()["serve"] = serve
        print(await asyncio.gather(*[serve_one(i) for i in range(30)]))
        process = await asyncio.create_subprocess_exec("sh", "-c", "echo async; exit 4", stdout=asyncio.subprocess.PIPE)
        print(await process.communicate(), process.returncode)
    asyncio.run(talk())
    left, right = socket.socketpair()
    with open("given", "w") as given:
        socket.send_fds(left, [b"x"], [given.fileno()])
    message, descriptors, *_ = socket.recv_fds(right, 10, 2)
    os.write(descriptors[0], b"through a socket\n"); os.close(descriptors[0]); print(message, open("given").read())
    shared = multiprocessing.shared_memory.SharedMemory(create=True, size=100) if hasattr(multiprocessing, "shared_memory") else None
    queue = multiprocessing.Queue(); p = multiprocessing.Process(target=queue.put, args=(list(range(1000)),)); p.start(); print(len(queue.get())); p.join(); print(p.exitcode)
    if shared: shared.close(); shared.unlink()
    directory = tempfile.mkdtemp(dir="."); [open(f"{directory}/{i}", "w").write("x" * i) for i in range(200)]
    print(sum(e.stat().st_size for e in os.scandir(directory))); shutil.rmtree(directory)
    sys.exit(17)

if __name__ == "__main__":
    main()
"""

NODE = r"""
const { Worker, isMainThread, parentPort } = require('worker_threads');
const fs = require('fs'), cp = require('child_process'), net = require('net');
if (!isMainThread) {
  parentPort.postMessage(fs.readFileSync('/etc/passwd').length > 0);
} else (async () => {
  console.log(cp.execSync('echo sync; exit 0').toString(), cp.spawnSync('sh', ['-c', 'exit 6']).status, cp.spawnSync('sh', ['-c', 'kill -9 $$']).signal);
  console.log(await Promise.all([1, 2, 3, 4].map(() => new Promise(done => new Worker(__filename).on('message', done)))));
  await Promise.all([...Array(100).keys()].map(i => fs.promises.writeFile('f' + i, 'x'.repeat(i))));
  console.log((await fs.promises.readdir('.')).length);
  const server = net.createServer(s => s.pipe(s)).listen(0);
  await new Promise(done => { const c = net.connect(server.address().port, () => c.write('hello')); c.on('data', d => { console.log(d.toString()); c.end(); done(); }); });
  server.close();
  const child = cp.spawn('cat'); child.stdout.on('data', d => console.log('cat:', d.toString())); child.stdin.end('through cat');
  child.on('exit', code => { console.log(code); process.exitCode = 11; });
})();
"""


@scenario("Python: children, pools, threads, signals, sockets, passed descriptors")
def python(stage):
    (stage.directory / "main.py").write_text(PYTHON)
    return stage.run(sys.executable, "-I", "main.py")


@scenario("Node.js: workers, children, files, sockets", needs=["node"])
def node(stage):
    (stage.directory / "main.js").write_text(NODE)
    return stage.run("node", "main.js")
