//! Trails on disk: written, read, damaged, recorded, killed.

mod files;
mod flips;
mod killed;
mod recording;
mod writing;
