//! What events come from, as trails name it.

/// The recorder, and the formats that are imported.
pub const SOURCES: [&str; 5] = ["ptrace", "strace", "darshan-dxt", "ltrace", "raw"];
