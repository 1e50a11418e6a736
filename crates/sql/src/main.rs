//! SQL over trails.
fn main() {}
