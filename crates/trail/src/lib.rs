//! The trail on disk: Arrow schema, write, scan, check.
