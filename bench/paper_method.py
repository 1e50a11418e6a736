"""The paper's method (section V, implementation): regular expressions and pandas, one pass over the lines of a trace.

usage: paper_method.py TRACE        A stand-in for measurements: prints the number of events and of relations.
"""
import re
import sys

import pandas

LINE = re.compile(r"^(\d+) +(\d\d):(\d\d):(\d\d\.\d+) (?:<\.\.\. )?(\w+)(?: resumed>|\()(.*)$")
END = re.compile(r"= (-?\d+|\?|0x[0-9a-f]+).*?(?:<(\d+\.\d+)>)?$")
PATH = re.compile(r"<(/[^>]*)>|\"(/[^\"]*)\"")


def events(lines):
    pending = {}
    for line in lines:
        match = LINE.match(line)
        if not match:
            continue
        pid, hours, minutes, seconds, call, rest = match.groups()
        start = int(hours) * 3600 + int(minutes) * 60 + float(seconds)
        if "<unfinished ...>" in rest:
            pending[pid] = (start, call, rest)
            continue
        if line.find("resumed>") >= 0 and pid in pending:
            start, call, first = pending.pop(pid)
            rest = first + rest
        end = END.search(rest)
        path = PATH.search(rest)
        name = next((group for group in path.groups() if group), None) if path else None
        duration = float(end.group(2)) if end and end.group(2) else None
        yield pid, call, start, duration, name, end.group(1) if end else None


with open(sys.argv[1], encoding="utf-8", errors="replace") as trace:
    log = pandas.DataFrame(events(trace), columns=["pid", "call", "start", "dur", "fp", "size"])
log["activity"] = log["call"] + ":" + log["fp"].fillna("").str.split("/").str[:3].str.join("/")
log = log.sort_values(["pid", "start"], kind="stable")
follower = log.groupby("pid")["activity"].shift(-1)
print(len(log), log.groupby([log["activity"], follower]).size().shape[0])
