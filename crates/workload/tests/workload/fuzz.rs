//! Whatever is in a model file, it is a model or an error with its place.

use iotrail_workload::{Model, TEMPLATES};
use proptest::prelude::*;

/// What people and editors do to a file.
#[derive(Clone, Debug)]
enum Change {
    Delete(usize, usize),
    Insert(usize, String),
    Repeat(usize),
    Drop(usize),
    Swap(usize, usize),
    Number(usize, String),
}

fn words() -> impl Strategy<Value = String> {
    let words = [
        "0",
        "-1",
        "1e400",
        "9223372036854775807",
        "18446744073709551616",
        "\"\"",
        "\"%r\"",
        "\"..\"",
        "\"/etc/passwd\"",
        "[]",
        "{}",
        "[[file]]\n",
        "[program]\n",
        "repeat = 1000000000",
        "private",
        "shared",
        "\"64 KiB\"",
        "\"99 EiB\"",
        "nan",
        "inf",
        "true",
        "'''",
        "\u{0}",
        "\u{202e}",
        "ü",
        "\n",
        "\"0..\"",
        "\"5..2\"",
        "{ barrier = \"all\" }",
        "{ message = \"send\", around = 1 }",
        "{ message = \"receive\", from = \"all\" }",
        "= =",
    ];
    prop_oneof![prop::sample::select(words.to_vec()).prop_map(str::to_owned), "[ -~]{0,12}"]
}

fn change() -> impl Strategy<Value = Change> {
    let at = 0..4_000_usize;
    prop_oneof![
        (at.clone(), 1..40_usize).prop_map(|(at, len)| Change::Delete(at, len)),
        (at.clone(), words()).prop_map(|(at, word)| Change::Insert(at, word)),
        at.clone().prop_map(Change::Repeat),
        at.clone().prop_map(Change::Drop),
        (at.clone(), at.clone()).prop_map(|(one, other)| Change::Swap(one, other)),
        (at, words()).prop_map(|(at, word)| Change::Number(at, word)),
    ]
}

fn changed(text: &str, change: &Change) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    let mut lines: Vec<&str> = text.lines().collect();
    let (len, count) = (characters.len().max(1), lines.len().max(1));
    match change {
        Change::Delete(at, number) => {
            let at = at % len;
            let end = (at + number).min(characters.len());
            characters.drain(at.min(end)..end);
            return characters.into_iter().collect();
        }
        Change::Insert(at, word) => {
            characters.splice(at % len..at % len, word.chars());
            return characters.into_iter().collect();
        }
        Change::Repeat(at) => lines.insert(at % count, lines[at % count]),
        Change::Drop(at) => drop(lines.remove(at % count)),
        Change::Swap(one, other) => lines.swap(one % count, other % count),
        Change::Number(at, word) => {
            let digits: Vec<usize> =
                (0..characters.len()).filter(|at| characters[*at].is_ascii_digit()).collect();
            if let Some(at) = digits.get(at % digits.len().max(1)) {
                characters.splice(*at..=*at, word.chars());
            }
            return characters.into_iter().collect();
        }
    }
    lines.join("\n") + "\n"
}

/// A model comes back as it was written; an error names a place in the text.
fn check(text: &str) -> Result<(), TestCaseError> {
    match Model::parse(text) {
        Ok(model) => {
            let written = model.to_string();
            let again = Model::parse(&written);
            prop_assert_eq!(again.as_ref(), Ok(&model), "{}", written);
            if let Err(error) = model.totals(4) {
                prop_assert!(error.to_string().contains("64 bits"), "{}", error);
            }
        }
        Err(error) => {
            let lines = text.lines().count().max(1);
            prop_assert!((1..=lines + 1).contains(&error.line), "{error} of {lines} lines");
            prop_assert!(
                error.column >= 1 && !error.problem.is_empty() && !error.expected.is_empty(),
                "{error:?}"
            );
            prop_assert!(!error.to_string().contains(char::is_control), "{error:?}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn a_changed_model_is_a_model_or_an_error_with_its_place(
        template in 0..TEMPLATES.len(),
        changes in prop::collection::vec(change(), 1..6),
    ) {
        let mut text = TEMPLATES[template].2.to_owned();
        for change in &changes {
            text = changed(&text, change);
        }
        check(&text)?;
    }

    #[test]
    fn any_text_is_an_error_with_its_place(text in "\\PC{0,200}") {
        check(&text)?;
    }
}
