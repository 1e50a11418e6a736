//! Advice against an oracle that moves bytes, and against all other ways to divide.

#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test fails by panicking and tells its recall"
)]

mod oracle;
mod table;
