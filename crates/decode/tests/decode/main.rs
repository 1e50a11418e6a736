//! From registers and planted memory to raw calls.

mod entries;
mod hostile;
mod narrow;
mod returns;
mod sockets;
mod strace;
mod support;
mod table;
