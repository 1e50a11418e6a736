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
  resolution INTEGER,
  numbered_with INTEGER
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
