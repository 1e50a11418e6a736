# construct: made again
# changes: in.txt
# becomes: b a
# A command ends with another status once two files are the same: what followed it in the recording would not follow it then.
diff in.txt body > d || cp d e
