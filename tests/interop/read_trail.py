#!/usr/bin/env python3
"""Reads a trail with DuckDB, pyarrow and pandas and makes sure that all agree with trail.json.

usage: read_trail.py NAME.trail        (needs duckdb, pandas, pyarrow)
"""

import json
import pathlib
import sys

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

EVENT_TYPES = {
    "case_id": pa.uint32(), "seq": pa.uint64(), "pid": pa.uint32(), "tid": pa.uint32(),
    "layer": pa.dictionary(pa.int32(), pa.string()), "call": pa.dictionary(pa.int32(), pa.string()),
    "start": pa.timestamp("ns", tz="UTC"), "dur": pa.int64(), "fd": pa.int32(),
    "path": pa.dictionary(pa.int32(), pa.string()), "path2": pa.dictionary(pa.int32(), pa.string()),
    "offset": pa.int64(), "requested": pa.int64(), "size": pa.int64(), "ret": pa.int64(),
    "errno": pa.dictionary(pa.int32(), pa.string()), "flags": pa.dictionary(pa.int32(), pa.string()),
    "file": pa.uint32(), "file2": pa.uint32(), "open": pa.uint32(), "open2": pa.uint32(),
    "parent": pa.uint64(),
    "comm": pa.int32(),
    "peer": pa.int32(),
    "tag": pa.int32(),
    "sent": pa.int64(),
    "received": pa.int64(),
    "via": pa.dictionary(pa.int32(), pa.string()),
    "args": pa.dictionary(pa.int32(), pa.string()),
    "site": pa.uint32(),
}


def parts(trail, meta, table):
    return [str(trail / listed["file"]) for listed in meta["files"] if listed["table"] == table]


def equal(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: found {found!r}, expected {expected!r}")
    print(f"ok  {what}: {found!r}"[:160])


def with_duckdb(trail, meta):
    totals = meta["totals"]
    connection = duckdb.connect()

    def sql(query):
        return connection.execute(query).fetchall()

    for table in ("cases", "events", "processes", "files"):
        rows = sum(listed["rows"] for listed in meta["files"] if listed["table"] == table)
        found = sum(sql(f"SELECT count(*) FROM '{part}'")[0][0] for part in parts(trail, meta, table))
        equal(f"duckdb rows of {table}", found, rows)
    for kind, where in (("calls", "true"), ("errnos", "errno IS NOT NULL")):
        column = kind[:-1]
        found = {}
        for part in parts(trail, meta, "events"):
            for name, count in sql(f"SELECT {column}, count(*) FROM '{part}' WHERE {where} GROUP BY 1"):
                found[name] = found.get(name, 0) + count
        equal(f"duckdb {kind}", dict(sorted(found.items())), totals[kind])
    for part in parts(trail, meta, "events"):
        lost = sql(
            f"SELECT count(*) FROM '{part}' WHERE path IS NOT NULL AND path NOT IN "
            f"(SELECT path FROM '{part.replace('events-', 'files-')}')"
        )[0][0]
        equal("duckdb paths of events that are not in files", lost, 0)


def with_pyarrow(trail, meta):
    for part in parts(trail, meta, "events"):
        file = pq.ParquetFile(part)
        equal("pyarrow types", {f.name: str(f.type) for f in file.schema_arrow},
              {name: str(kind) for name, kind in EVENT_TYPES.items()})
        for group in range(file.metadata.num_row_groups):
            order = [(s.column_index, s.descending) for s in file.metadata.row_group(group).sorting_columns]
            if order != [(0, False), (6, False), (1, False)]:
                sys.exit(f"row group {group} declares the order {order}")
        table = file.read()
        table.validate(full=True)
        keys = table.select(["case_id", "start", "seq"]).to_pandas()
        ordered = keys.sort_values(["case_id", "start", "seq"], kind="stable")
        equal("pyarrow order", bool((ordered.index == keys.index).all()), True)


def with_pandas(trail, meta):
    frames = [pd.read_parquet(part, dtype_backend="pyarrow") for part in parts(trail, meta, "events")]
    totals = meta["totals"]
    if not frames or totals["events"] == 0:
        return
    events = pd.concat([frame.astype({"call": "string"}) for frame in frames])
    equal("pandas events", len(events), totals["events"])
    equal("pandas first start", int(events["start"].min().value), totals["start"])
    moved = events.loc[events["call"].isin(["read", "pread64", "readv", "preadv", "preadv2"]), "size"].sum()
    print(f"ok  pandas bytes of read variants: {int(moved)}, trail.json with copies: {totals['bytes_read']}")
    connection = duckdb.connect()
    found = sum(
        connection.execute(f"SELECT coalesce(sum(size), 0) FROM '{part}'").fetchall()[0][0]
        for part in parts(trail, meta, "events")
    )
    equal("duckdb and pandas agree on the sum of size", int(found), int(events["size"].sum()))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    trail = pathlib.Path(sys.argv[1])
    meta = json.loads((trail / "trail.json").read_text())
    equal("format", (meta["format"], meta["format_version"]), ("iotrail trail", 1))
    with_duckdb(trail, meta)
    with_pyarrow(trail, meta)
    with_pandas(trail, meta)
    print("all readers agree")


if __name__ == "__main__":
    main()
