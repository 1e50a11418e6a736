//! Questions to trails through the program, and what must not be possible.

#![allow(clippy::expect_used, clippy::panic, reason = "a test")]

mod attacks;
mod figures;
mod forms;
mod tables;
mod util;
