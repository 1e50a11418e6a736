//! Models to start from.

/// Their names, what they are, and their texts.
pub const TEMPLATES: [(&str, &str, &str); 6] = [
    (
        "checkpoint",
        "each rank writes a file of its own, again and again",
        include_str!("templates/checkpoint.toml"),
    ),
    (
        "shared-strided",
        "all ranks write, then read one file in turns",
        include_str!("templates/shared-strided.toml"),
    ),
    (
        "shared-collective",
        "all ranks write and read one file together, with calls of MPI-IO",
        include_str!("templates/shared-collective.toml"),
    ),
    ("loader", "each rank reads many small files", include_str!("templates/loader.toml")),
    (
        "metadata",
        "each rank makes, looks at and removes many small files",
        include_str!("templates/metadata.toml"),
    ),
    ("log", "all ranks append lines to one file", include_str!("templates/log.toml")),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Model;

    #[test]
    fn templates_are_models() {
        for (name, _, text) in TEMPLATES {
            let model = Model::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(
                model.totals(4).is_ok_and(|totals| totals.bytes_read + totals.bytes_written > 0),
                "{name}"
            );
        }
    }
}
