CREATE INDEX event_rows_by_time ON event_rows (case_id, "start", seq);
CREATE INDEX event_rows_by_file ON event_rows (path_id);
CREATE INDEX event_rows_by_call ON event_rows (call_id);
CREATE INDEX processes_by_pid ON processes (case_id, pid);
CREATE UNIQUE INDEX files_by_path ON files (path);
