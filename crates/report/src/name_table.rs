//! The dictionary of the page: every name is in it once, and everything else refers to it by number.

use crate::data::NameId;
use std::collections::HashMap;

/// Longest name in bytes; the rest of a longer one is counted in its text.
const LONGEST: usize = 600;

/// Names by the order in which they were first asked for.
#[derive(Debug, Default)]
pub(crate) struct NameTable {
    names: Vec<String>,
    ids: HashMap<String, NameId>,
}

impl NameTable {
    /// The number of a name. Names that are cut to the same text stay apart by what is said about the rest.
    pub(crate) fn id(&mut self, name: &str) -> NameId {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let id = NameId(self.names.len() as u32);
        self.names.push(cut(name));
        self.ids.insert(name.to_owned(), id);
        id
    }

    /// All names by number.
    pub(crate) fn into_names(self) -> Vec<String> {
        self.names
    }
}

fn cut(name: &str) -> String {
    if name.len() <= LONGEST {
        return name.to_owned();
    }
    let floor = |mut index: usize| {
        while !name.is_char_boundary(index) {
            index -= 1;
        }
        index
    };
    let (head, tail) = (floor(LONGEST / 2), floor(name.len() - LONGEST / 2));
    format!("{}…({} bytes)…{}", &name[..head], tail - head, &name[tail..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_stored_once() {
        let mut table = NameTable::default();
        assert_eq!((table.id("a"), table.id("b"), table.id("a")), (NameId(0), NameId(1), NameId(0)));
        assert_eq!(table.into_names(), ["a", "b"]);
    }

    #[test]
    fn a_name_of_a_megabyte_is_cut_and_says_so() {
        let mut table = NameTable::default();
        table.id(&"é".repeat(500_000));
        let name = &table.into_names()[0];
        assert!(name.len() < 700 && name.contains("…(999400 bytes)…"), "{name}");
    }
}
