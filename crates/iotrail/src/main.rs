//! The `iotrail` command line.
fn main() {}
