//! Questions to trails through the program, and what must not be possible.

mod attacks;
mod figures;
mod forms;
mod tables;
mod util;
