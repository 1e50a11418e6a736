"""`iotrail export influx` and `iotrail export grafana` against real servers: InfluxDB 1.x, and VictoriaMetrics for the write interface of 2.x.

usage: run.py IOTRAIL
"""
import json
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from datetime import datetime
from pathlib import Path

import traces
from servers import Influx, VictoriaMetrics, running

IOTRAIL = str(Path(sys.argv[1]).resolve())
MEASUREMENTS = {"processes": ("iotrail_process", "pid"), "files": ("iotrail_file", "calls"),
                "findings": ("iotrail_finding", "calls"), "calls": ("iotrail_call", "pid")}


def run(directory, *words, status=0):
    ran = subprocess.run([IOTRAIL, *words], cwd=directory, capture_output=True, text=True)
    assert ran.returncode == status, f"{words}: status {ran.returncode}\n{ran.stderr}"
    return ran


def export(directory, trail, server, database, *more, status=0):
    """What an upload reports."""
    ran = run(directory, "export", "influx", trail, "--url", server.url, "--db", database, "--json", *more, status=status)
    return json.loads(ran.stdout), ran.stderr


def events(directory, trail):
    text = run(directory, "events", trail, "--json").stdout
    return [json.loads(line) for line in text.splitlines()]


def nanos(text):
    """2026-01-31T10:00:00.000000001Z as ns since the epoch."""
    seconds, fraction = text.rstrip("Z").split(".")
    return int(datetime.fromisoformat(seconds + "+00:00").timestamp()) * 1_000_000_000 + int(fraction)


def as_field(text):
    """Control characters are stored as escapes."""
    return None if text is None else re.sub(r"[\x00-\x1f\x7f]", lambda found: f"\\x{ord(found[0]):02x}", text)


def points_in_are_points_out(directory, server, trail):
    server.ask(f'CREATE DATABASE "{trail}"')
    lines = run(directory, "export", "influx", trail, "-q", "-o", "-").stdout.splitlines()
    assert lines == run(directory, "export", "influx", trail, "-q", "-o", "-").stdout.splitlines(), "not the same twice"
    for time_of in ("first", "again"):
        report, _ = export(directory, trail, server, trail)
        assert report["points"] == report["stored"] == report["sent"]["accepted"] == len(lines), (time_of, report)
        for kind, (measurement, field) in MEASUREMENTS.items():
            assert server.count(trail, measurement, field) == report[kind]["points"], (time_of, kind, report)
    rows = server.rows('SELECT * FROM "iotrail_call"', trail)
    same = ("call", "pid", "tid", "seq", "fd", "offset", "requested", "size", "errno")
    stored = Counter((row["time"] - (row.get("moved_ns") or 0), row.get("duration_ns"), row.get("path") or row.get("file"), row.get("path2"),
                      *(row.get(name) for name in same)) for row in rows)
    known = Counter((nanos(event["start"]), event["dur"], as_field(event["path"]), as_field(event["path2"]),
                     *(event[name] for name in same)) for event in events(directory, trail))
    assert stored == known, f"{trail}: {list((stored - known).items())[:3]} {list((known - stored).items())[:3]}"
    uses = {as_field(row["path"]): row for row in map(json.loads, run(directory, "files", trail, "--json").stdout.splitlines())}
    for row in server.rows('SELECT * FROM "iotrail_file"', trail):
        use = uses[row["file"]]
        same = ("calls", "opens", "reads", "writes", "bytes_read", "bytes_written", "io_ns", "processes")
        assert [row[name] for name in same] == [use[name] for name in same], (row, use)
    moved = sum(1 for row in rows if row.get("moved_ns"))
    print(f"{trail}: {len(lines)} points in, {report['stored']} out, {moved} calls moved to a free time")


def escaped(value):
    """Grafana's format `regex`."""
    return re.sub(r"[\\^$*+?.()|\[\]{}/]", lambda found: "\\" + found[0], value)


def filled(query, values, span):
    """A query as Grafana sends it."""
    for name, value in values.items():
        query = query.replace(f"${{{name}:regex}}", value)
    query = query.replace("$timeFilter", f"time >= {span[0]}ms AND time <= {span[1]}ms").replace("$__interval", "1ms")
    assert "$" not in query.replace("$/", "").replace("\\$", ""), query
    return query


def every_query_answers(directory, server, trail, files=None):
    """Every variable has values, and for each value of each every panel has rows, but for values that exclude each other."""
    ran = run(directory, "export", "grafana", trail, "-o", "grafana", "--url", server.url, "--db", trail, "--json")
    link = json.loads(ran.stdout)["link"]
    span = [int(re.search(f"[?&]{word}=(\\d+)", link)[1]) for word in ("from", "to")]
    asked = 0
    for path in sorted((directory / "grafana/dashboards").glob("*.json")):
        dashboard = json.loads(path.read_text())
        values, choices = {}, {}
        for variable in dashboard["templating"]["list"]:
            name = variable["name"]
            if variable["type"] == "datasource":
                continue
            rows = server.ask(filled(variable["query"], values, span), trail)
            # As Grafana reads them: the second column of each row.
            choices[name] = list(dict.fromkeys(row[1] for series in rows for row in series["values"]))
            assert choices[name], f"{path.stem}: no values for {name}"
            values[name] = variable.get("allValue") or escaped(choices[name][0])
        if files and "file" in choices:
            assert set(files) <= set(choices["file"]), set(files) - set(choices["file"])
        selections = [values] + [{**values, "file": escaped(file)} for file in (files or []) if "file" in values]
        single = {name: escaped(found[0]) for name, found in choices.items() if name in ("host", "rank", "rule")}
        for selection in selections:
            for panel in dashboard["panels"]:
                assert server.ask(filled(panel["targets"][0]["query"], selection, span), trail), (path.stem, panel["title"], selection)
                asked += 1
        for name, value in single.items():
            for panel in dashboard["panels"]:
                if "file" not in choices:
                    assert server.ask(filled(panel["targets"][0]["query"], {**values, name: value}, span), trail), (panel["title"], name, value)
                    asked += 1
    print(f"{trail}: {asked} questions of dashboards have rows")


def until_some_points(server, database):
    deadline = time.monotonic() + 60
    while not server.count(database, "iotrail_call", "pid"):
        assert time.monotonic() < deadline, "no point arrives"
        time.sleep(0.02)


def uploading(directory, server, trail, database):
    words = [IOTRAIL, "export", "influx", trail, "--url", server.url, "--db", database, "--json", "--batch", "200"]
    return subprocess.Popen(words, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def a_server_that_dies_loses_nothing(directory, server, trail):
    server.ask('CREATE DATABASE "dies"')
    upload = uploading(directory, server, trail, "dies")
    until_some_points(server, "dies")
    server.stop(signal.SIGKILL)
    time.sleep(1.5)
    assert upload.poll() is None, upload.communicate()
    server.start()
    out, err = upload.communicate(timeout=120)
    report = json.loads(out)
    assert upload.returncode == 0 and report["stored"] == report["points"], (report, err)
    assert report["sent"]["retries"] > 0 and "next try" in err, (report, err)
    print(f"killed and started again: {report['stored']} of {report['points']} points, {report['sent']['retries']} retries")


def an_upload_that_dies_is_resumed(directory, server, trail):
    server.ask('CREATE DATABASE "resumed"')
    upload = uploading(directory, server, trail, "resumed")
    until_some_points(server, "resumed")
    time.sleep(0.5)
    upload.kill()
    upload.communicate()
    report, _ = export(directory, trail, server, "resumed", "--resume", "--batch", "200")
    sent = report["sent"]
    assert report["stored"] == report["points"] == sent["skipped"] + sent["accepted"] and sent["skipped"] > 0, report
    print(f"upload killed: {sent['skipped']} of {report['points']} points skipped by --resume, none missing")


def what_the_server_drops_is_told(directory, server, trail):
    server.ask('CREATE DATABASE "short" WITH DURATION 1h')
    report, said = export(directory, trail, server, "short", status=1)
    assert report["sent"]["dropped"] == report["points"] and report["stored"] == 0, report
    assert "retention policy" in said, said
    ran = run(directory, "export", "influx", trail, "--url", server.url, "--db", "missing", status=1)
    assert "CREATE DATABASE" in ran.stderr, ran.stderr
    print(f"dropped points are told: {report['sent']['first_refusal']}")


def a_bucket_gets_what_is_sent(directory, server, trail):
    words = ("export", "influx", trail, "--url", server.url, "--org", "o", "--bucket", "b", "--json")
    ran = run(directory, *words)
    report = json.loads(ran.stdout)
    assert report["sent"]["accepted"] == report["points"] and report["stored"] is None, report
    calls = events(directory, trail)
    for field, known in (("pid", [event["pid"] for event in calls]), ("size", [event["size"] for event in calls if event["size"] is not None])):
        values = [value for _, _, value in server.samples(f"iotrail_call_{field}")]
        assert Counter(values) == Counter(known), (field, len(values), len(known))
    print(f"VictoriaMetrics: {len(calls)} calls sent to /api/v2/write are there")


def main():
    with tempfile.TemporaryDirectory() as place:
        directory = Path(place)
        hostile, habits = (traces.imported(IOTRAIL, directory, make) for make in (traces.hostile, traces.habits))
        many = traces.imported(IOTRAIL, directory, traces.many, 60_000)
        with running(Influx) as server:
            points_in_are_points_out(directory, server, hostile)
            points_in_are_points_out(directory, server, habits)
            every_query_answers(directory, server, habits)
            server.ask(f'CREATE DATABASE "{hostile}"')
            a_server_that_dies_loses_nothing(directory, server, many)
            an_upload_that_dies_is_resumed(directory, server, many)
            what_the_server_drops_is_told(directory, server, habits)
        with running(VictoriaMetrics) as server:
            a_bucket_gets_what_is_sent(directory, server, habits)
    return 0


if __name__ == "__main__":
    sys.exit(main())
