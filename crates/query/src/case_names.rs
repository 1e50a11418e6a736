//! What cases are called: unique names for what may have the same (cid, host, rid).

use crate::case_by::CaseBy;
use crate::classified::CaseKey;
use crate::images::{Images, UNKNOWN};
use crate::preset::base;
use crate::reused::Reused;
use iotrail_model::Case;
use std::collections::BTreeSet;

/// Unique names of the recorded cases, `a/host1/9042 (label)`, by their ids.
pub(crate) fn unique(cases: &[Case]) -> Vec<String> {
    let plain = |case: &Case| match &case.label {
        Some(label) => format!("{} ({label})", case.name),
        None => case.name.to_string(),
    };
    unique_texts(cases.iter().map(plain).collect())
}

/// The texts, those that occurred before with a number.
pub(crate) fn unique_texts(texts: Vec<String>) -> Vec<String> {
    let mut used = BTreeSet::new();
    let mut names = Vec::with_capacity(texts.len());
    let mut repeats = std::collections::BTreeMap::<String, u64>::new();
    for name in texts {
        let mut candidate = name.clone();
        while !used.insert(candidate.clone()) {
            let number = repeats.entry(name.clone()).or_insert(1);
            *number += 1;
            candidate = format!("{name} #{number}");
        }
        names.push(candidate);
    }
    names
}

/// The name of a part of the recorded case `name`.
pub(crate) fn part(name: &str, key: CaseKey, by: CaseBy, images: &Images, reused: &Reused) -> String {
    match by {
        CaseBy::Rank => name.to_owned(),
        CaseBy::Pid => format!("{name} pid {}", reused.name(key.case(), key.part())),
        CaseBy::Tid => format!("{name} tid {}", reused.name(key.case(), key.part())),
        CaseBy::Exec if key.part() == UNKNOWN => format!("{name} exec ?"),
        CaseBy::Exec => {
            let number = u64::from(key.part()) + 1;
            match images.exe(key.case(), key.part()) {
                Some(exe) => format!("{name} exec {number} {}", base(exe)),
                None => format!("{name} exec {number}"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::CaseName;

    #[test]
    fn equal_names_are_numbered_apart() {
        let case = |cid: &str, label: Option<&str>| Case {
            name: CaseName { cid: Some(cid.into()), ..CaseName::default() },
            label: label.map(str::to_owned),
            ..Case::default()
        };
        let cases =
            [case("a", None), case("a #2", None), case("a", None), case("a", Some("x")), case("a", None)];
        assert_eq!(unique(&cases), ["a", "a #2", "a #3", "a (x)", "a #4"]);
    }
}
