//! Drawing: graph layout, SVG, terminal tables, one file per export format.
