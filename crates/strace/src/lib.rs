//! Imports what strace prints.
