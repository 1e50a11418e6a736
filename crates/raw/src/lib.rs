//! Raw records as lines of JSON.
//!
//! A way of recording (a tracer, rings of another process, a file system, MPI) delivers what it saw as
//! [`RawItem`](iotrail_model::raw::RawItem)s, and a resolver makes events of them. Here is the form in which items leave the
//! program that saw them, and come back: one object a line, `item` says which one, fields are those of the item. `docs/raw-records.md`
//! shows them.
//!
//! ```
//! use iotrail_model::Dictionaries;
//! use iotrail_raw::Reader;
//!
//! let text = br#"{"item":"exited","tid":7,"at":1700000000000000000,"status":0}"#;
//! let mut names = Dictionaries::default();
//! let mut reader = Reader::new(&text[..]);
//! let mut items = 0;
//! while let Some(record) = reader.next()? {
//!     record.with(&mut names, |item, _names| {
//!         // resolver.item(case, item, names, sink)
//!         assert_eq!(item.tid().0, 7);
//!         items += 1;
//!     });
//! }
//! assert_eq!(items, 1);
//! # Ok::<(), iotrail_raw::RawError>(())
//! ```

mod call;
mod error;
mod item;
mod lines;
mod parts;
mod record;
mod text;

pub use error::RawError;
pub use lines::{Reader, write};
pub use record::RawRecord;
