//! The page of whole logs.

mod page_data;
mod page_size;
