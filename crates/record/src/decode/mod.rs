//! From registers and memory to raw calls.
