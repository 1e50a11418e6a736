//! Items that went through lines of JSON are the items that they were, and so are the events made of them.

#![allow(clippy::unwrap_used, reason = "a test")]

mod items;
mod same_events;
