//! What the resolver makes of raw calls.

mod contested;
mod descriptors;
mod hostile;
mod identity;
mod layers;
mod mappings;
mod model;
mod offsets;
mod processes;
mod recorded;
mod requests;
mod schedules;
mod script;
mod sockets;
