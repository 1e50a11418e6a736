//! Trails that can be shared: paths, arguments, hosts and values of variables replaced by rule or by hashing, the same way
//! in every table and in `trail.json`, so that every analysis of the copy gives the same figures under other names.
//!
//! What is secret is decided by what is public, not the other way round: a text that nothing declares harmless is hashed.

pub mod error;
pub mod key;
pub mod redact;
pub mod rules;
pub mod words;

mod coverage;
mod name;
mod notes;
mod object;
mod people;
mod place;
mod public;
mod returned;

pub use error::RedactError;
pub use key::Key;
pub use redact::{RedactOptions, Redacted, redact};
pub use rules::Rules;
pub use words::Words;
