//! Workflows in the formats of other programs: graphs, workflow systems, provenance, traces.
