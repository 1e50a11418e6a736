"""pm4py's graph of the events that `iotrail events --csv` wrote, activities are calls. usage: pm4py_dfg.py EVENTS.csv"""
import sys

import pandas
import pm4py

table = pandas.read_csv(sys.argv[1], usecols=["pid", "call", "start_ns"])
table["time"] = pandas.to_datetime(table["start_ns"], utc=True, unit="ns")
table["pid"] = table["pid"].astype(str)
relations, _, _ = pm4py.discover_dfg(table, activity_key="call", case_id_key="pid", timestamp_key="time")
print(len(table), len(relations))
