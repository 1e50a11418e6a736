//! Raw calls to events: descriptor tables, open file descriptions, working directories, process life.
