//! Events on their way to a trail: append-only files that survive the death of their writer.
