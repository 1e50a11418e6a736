//! Pictures and exports of whole results.

mod exports;
mod figures;
mod graphs;
mod layout;
mod samples;
mod selection;
mod terminal;
