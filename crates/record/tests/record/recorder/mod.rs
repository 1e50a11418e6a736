//! Real programs under the recorder: how they end, what they notice (nothing), and what is told about them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail anywhere")]
#![allow(clippy::print_stderr, reason = "a test says what it could not test")]

mod attaching;
mod ends;
mod interruptions;
mod keeping;
mod lives;
mod support;
