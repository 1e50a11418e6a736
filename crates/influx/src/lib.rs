//! Lines of line protocol to a server that speaks InfluxDB's HTTP interface: 1.x (`/write`), 2.x, 3.x and others (`/api/v2/write`).
//!
//! An [`Upload`] holds one batch and sends it before it takes more, so whoever makes the lines waits for the server and memory
//! stays bounded. A batch is sent again until the server has taken it: the same point written twice is one point, so a batch
//! whose answer was lost does no harm. There is no TLS; what needs it goes through another program.

mod batch;
mod count;
mod error;
mod http;
mod reply;
mod retry;
mod server;
mod upload;

#[cfg(test)]
mod fake;

pub use count::{CountQuery, Stored, count};
pub use error::UploadError;
pub use server::{Server, Target};
pub use upload::{Options, Sent, Upload, Waiting};
