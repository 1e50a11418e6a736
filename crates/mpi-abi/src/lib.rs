//! What is known of the functions of MPI, whichever library has them, and the records in which a program tells of its calls.
//!
//! The table of functions is a text, a line for each: its name and the names of its parameters, as the MPI standard has them.
//! What the parameters mean ([`Roles`]) follows from these names.

pub mod frames;
mod functions;
mod record;
mod ring;
mod roles;

pub use functions::{Function, functions};
pub use record::{Completed, Record, RecordKind};
pub use ring::{
    ANNOUNCE, Announcement, CAPACITY, CONSUMED, DROPPED, FILE_BYTES, HEADER_BYTES, MAGIC, PRODUCED,
    RECORD_BYTES, SITELESS, place_of, version,
};
pub use roles::{NONE, RequestUse, Roles, Shape};
