CREATE TABLE runs (
  run INTEGER PRIMARY KEY,
  trail TEXT NOT NULL,
  source TEXT NOT NULL,
  command TEXT,
  host TEXT,
  tool_version TEXT NOT NULL,
  "start" INTEGER,
  "end" INTEGER,
  events INTEGER NOT NULL,
  lost INTEGER NOT NULL
);
CREATE TABLE cases (
  case_id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs,
  cid TEXT,
  host TEXT,
  rid TEXT,
  label TEXT,
  clock TEXT NOT NULL,
  source TEXT NOT NULL,
  interleaved INTEGER NOT NULL,
  resolution INTEGER
);
CREATE TABLE processes (
  case_id INTEGER NOT NULL REFERENCES cases,
  pid INTEGER NOT NULL,
  ppid INTEGER,
  "start" INTEGER,
  "end" INTEGER,
  exit_code INTEGER,
  signal TEXT,
  exe TEXT,
  cmdline TEXT,
  cwd TEXT,
  threads INTEGER NOT NULL,
  user INTEGER,
  system INTEGER,
  bytes_read INTEGER NOT NULL,
  bytes_written INTEGER NOT NULL,
  env TEXT NOT NULL,
  minor_faults,
  major_faults,
  max_memory,
  storage_read,
  storage_written,
  voluntary_switches,
  involuntary_switches,
  io_delay INTEGER,
  cmdline_cut INTEGER
);
CREATE TABLE files (
  file_id INTEGER PRIMARY KEY,
  path TEXT NOT NULL,
  canonical TEXT NOT NULL,
  kind TEXT,
  device,
  inode,
  size INTEGER
);
CREATE TABLE distinct_files (
  file INTEGER PRIMARY KEY,
  path_id INTEGER NOT NULL REFERENCES files,
  kind TEXT,
  device,
  inode,
  birth INTEGER,
  size INTEGER
);
CREATE TABLE file_names (
  file INTEGER NOT NULL REFERENCES distinct_files,
  path_id INTEGER NOT NULL REFERENCES files,
  gone INTEGER
);
CREATE TABLE calls (call_id INTEGER PRIMARY KEY, call TEXT NOT NULL);
CREATE TABLE errnos (errno_id INTEGER PRIMARY KEY, errno TEXT NOT NULL);
CREATE TABLE flag_texts (flags_id INTEGER PRIMARY KEY, flags TEXT NOT NULL);
CREATE TABLE layers (layer_id INTEGER PRIMARY KEY, layer TEXT NOT NULL);
CREATE TABLE event_rows (
  case_id INTEGER NOT NULL REFERENCES cases,
  seq INTEGER NOT NULL,
  pid INTEGER NOT NULL,
  tid INTEGER NOT NULL,
  layer_id INTEGER NOT NULL REFERENCES layers,
  call_id INTEGER NOT NULL REFERENCES calls,
  "start" INTEGER,
  dur INTEGER,
  fd INTEGER,
  file_id INTEGER REFERENCES files,
  file2_id INTEGER REFERENCES files,
  "offset" INTEGER,
  requested INTEGER,
  size INTEGER,
  ret INTEGER,
  errno_id INTEGER REFERENCES errnos,
  flags_id INTEGER REFERENCES flag_texts,
  file INTEGER REFERENCES distinct_files,
  file2 INTEGER REFERENCES distinct_files,
  open INTEGER,
  open2 INTEGER
);
CREATE VIEW events AS
SELECT e.case_id, e.seq, e.pid, e.tid, l.layer, c.call, e."start", e.dur, e.fd, f.path, g.path AS path2,
       e."offset", e.requested, e.size, e.ret, n.errno, t.flags, e.file, e.file2, e.open, e.open2
FROM event_rows e
JOIN layers l ON l.layer_id = e.layer_id
JOIN calls c ON c.call_id = e.call_id
LEFT JOIN files f ON f.file_id = e.file_id
LEFT JOIN files g ON g.file_id = e.file2_id
LEFT JOIN errnos n ON n.errno_id = e.errno_id
LEFT JOIN flag_texts t ON t.flags_id = e.flags_id;
