"""Real servers on the loopback, each with a directory of its own."""
import contextlib
import json
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """A server that is started, killed and started again over the same data."""

    def __init__(self):
        self.directory = Path(tempfile.mkdtemp(prefix="iotrail-influx-"))
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = None

    def start(self):
        with open(self.directory / "log", "ab") as log:
            self.process = subprocess.Popen(self.command(), stdout=log, stderr=log, cwd=self.directory)
        deadline = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(self.url + self.alive, timeout=5).close()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError((self.directory / "log").read_text()[-2000:])
                time.sleep(0.1)

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait()

    def remove(self):
        if self.process and self.process.poll() is None:
            self.stop(signal.SIGKILL)
        shutil.rmtree(self.directory)


class Influx(Server):
    """InfluxDB 1.x."""

    alive = "/ping"

    def command(self):
        config = self.directory / "influxdb.conf"
        config.write_text(f"""reporting-disabled = true
bind-address = "127.0.0.1:{free_port()}"
[meta]
  dir = "{self.directory}/meta"
[data]
  dir = "{self.directory}/data"
  wal-dir = "{self.directory}/wal"
  query-log-enabled = false
[monitor]
  store-enabled = false
[http]
  bind-address = "127.0.0.1:{self.port}"
  log-enabled = false
""")
        return ["influxd", "-config", str(config)]

    def ask(self, question, database=""):
        """The series that answer a question."""
        data = urllib.parse.urlencode({"db": database, "q": question, "epoch": "ns"}).encode()
        with urllib.request.urlopen(f"{self.url}/query", data=data, timeout=60) as answer:
            result = json.load(answer)["results"][0]
        if "error" in result:
            raise AssertionError(f"{question}: {result['error']}")
        return result.get("series", [])

    def rows(self, question, database):
        """The rows of all series that answer a question: columns and tags by name."""
        return [{**series.get("tags", {}), **dict(zip(series["columns"], values))}
                for series in self.ask(question, database) for values in series["values"]]

    def count(self, database, measurement, field):
        rows = self.rows(f'SELECT count("{field}") FROM "{measurement}"', database)
        return rows[0]["count"] if rows else 0


class VictoriaMetrics(Server):
    """A server that speaks the write interface of InfluxDB 2.x. It keeps the numeric fields."""

    alive = "/health"

    def command(self):
        return ["victoria-metrics", f"-httpListenAddr=127.0.0.1:{self.port}", f"-storageDataPath={self.directory}/data",
                "-retentionPeriod=100y", "-loggerLevel=ERROR"]

    def samples(self, metric):
        """All values of a metric with their times in ms."""
        urllib.request.urlopen(f"{self.url}/internal/force_flush", timeout=60).close()
        match = urllib.parse.urlencode({"match[]": metric, "start": "0", "reduce_mem_usage": "1"})
        with urllib.request.urlopen(f"{self.url}/api/v1/export?{match}", timeout=60) as answer:
            series = [json.loads(line) for line in answer]
        return [(one["metric"], time, value) for one in series for time, value in zip(one["timestamps"], one["values"])]


@contextlib.contextmanager
def running(kind):
    server = kind()
    try:
        server.start()
        yield server
    finally:
        server.remove()
