//! Groups of cases: what is coloured and compared (the paper's partition of an event log, section IV-C).
//!
//! ```text
//! by     = attribute | rules                cid                       one group for each value
//! rules  = rule { ("," | ";") rule }        cid=a;cid=b               the first rule that fits decides
//! rule   = [ name ":" ] test { "&" test }   small:cid~^s&host=n1      a group's name is by default its tests
//! test   = attribute op value
//! attribute = cid | host | rid | label | trail
//! op     = "=" | "!=" | "~" | "!~"          text, regular expression (unanchored)
//!        | "<" | "<=" | ">" | ">="          numbers
//! value  = everything up to one of , ; & or a text in '…' or "…"
//! ```
//! Rules of the same name make one group. Cases that no rule fits, and cases whose attribute is unknown, belong to no group.

use crate::attribute::{self, Attribute};
use crate::classified::GroupId;
use crate::error::QueryError;
use iotrail_model::Case;
use regex::{Regex, RegexBuilder};
use std::collections::BTreeMap;

const OPTION: &str = "by";
const REGEX_LIMIT: usize = 1 << 20;
const MOST_RULES: usize = 1000;

/// How cases are divided.
#[derive(Clone, Debug)]
pub enum GroupBy {
    /// One group for each value of an attribute.
    Attribute(Attribute),
    /// The first rule that fits decides.
    Rules(Vec<GroupRule>),
}

/// A group and the tests that all must hold.
#[derive(Clone, Debug)]
pub struct GroupRule {
    name: String,
    tests: Vec<Test>,
}

#[derive(Clone, Debug)]
struct Test {
    attribute: Attribute,
    holds: Holds,
}

#[derive(Clone, Debug)]
enum Holds {
    Equal(String, bool),
    Matches(Regex, bool),
    Order(std::cmp::Ordering, bool, f64),
}

/// The groups of a log's cases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    /// Names by [`GroupId`]: rules and trails in the order given, values of other attributes by the first trail that has them, then sorted.
    pub names: Vec<String>,
    /// The group of each case, by its id.
    pub of_case: Vec<Option<GroupId>>,
}

impl Groups {
    /// The same groups, those named in `first` in front, in that order.
    #[must_use]
    pub fn led_by(self, first: &[String]) -> Self {
        let named = first.iter().filter_map(|name| self.names.iter().position(|known| known == name));
        let mut taken = vec![false; self.names.len()];
        let order: Vec<usize> =
            named.chain(0..self.names.len()).filter(|at| !std::mem::replace(&mut taken[*at], true)).collect();
        let mut places = vec![GroupId(0); order.len()];
        (0..).zip(&order).for_each(|(place, at)| places[*at] = GroupId(place));
        Self {
            names: order.iter().map(|at| self.names[*at].clone()).collect(),
            of_case: self.of_case.into_iter().map(|id| id.map(|id| places[id.0 as usize])).collect(),
        }
    }
}

impl GroupBy {
    /// Parses the grammar of this module.
    ///
    /// # Errors
    /// With the place in `word`, what was found there and what is allowed.
    pub fn parse(word: &str) -> Result<Self, QueryError> {
        match Attribute::from_name(word.trim()) {
            Some(attribute) => Ok(Self::Attribute(attribute)),
            None => Parser { word, at: 0 }.rules().map(Self::Rules),
        }
    }

    /// Divides `cases`; `trail` names the trail of each.
    #[must_use]
    pub fn divide<'a>(&self, cases: &'a [Case], trail: impl Fn(&'a Case) -> &'a str) -> Groups {
        match self {
            Self::Attribute(attribute) => by_value(cases, &trail, |case| attribute.of(case, trail(case))),
            Self::Rules(rules) => by_rules(rules, cases, trail),
        }
    }
}

/// Trails stand in the order in which they were given, and so do the groups that they bring: the first is the baseline.
fn by_value<'a>(
    cases: &'a [Case],
    trail: &impl Fn(&'a Case) -> &'a str,
    value: impl Fn(&'a Case) -> Option<&'a str>,
) -> Groups {
    let mut trails = BTreeMap::new();
    let mut first: BTreeMap<&str, usize> = BTreeMap::new();
    for case in cases {
        let known = trails.len();
        let place = *trails.entry(trail(case)).or_insert(known);
        if let Some(name) = value(case) {
            first.entry(name).or_insert(place);
        }
    }
    let mut names: Vec<&str> = first.keys().copied().collect();
    names.sort_by_key(|name| (first[name], number(name), *name));
    in_order(cases, names, value)
}

fn in_order<'a>(cases: &'a [Case], names: Vec<&str>, value: impl Fn(&'a Case) -> Option<&'a str>) -> Groups {
    let places: BTreeMap<&str, u32> = names.iter().copied().zip(0..).collect();
    let of_case =
        cases.iter().map(|case| value(case).and_then(|v| places.get(v)).map(|&id| GroupId(id))).collect();
    Groups { names: names.into_iter().map(str::to_owned).collect(), of_case }
}

/// Numbers sort by value and before all texts.
fn number(text: &str) -> (bool, u64) {
    text.parse().map_or((true, 0), |value| (false, value))
}

fn by_rules<'a>(rules: &[GroupRule], cases: &'a [Case], trail: impl Fn(&'a Case) -> &'a str) -> Groups {
    let mut names: Vec<String> = Vec::new();
    let mut ids = Vec::with_capacity(rules.len());
    for rule in rules {
        let id = names.iter().position(|name| *name == rule.name).unwrap_or_else(|| {
            names.push(rule.name.clone());
            names.len() - 1
        });
        ids.push(GroupId(id as u32));
    }
    let group = |case: &'a Case| {
        let index =
            rules.iter().position(|rule| rule.tests.iter().all(|test| test.fits(case, trail(case))))?;
        Some(ids[index])
    };
    Groups { of_case: cases.iter().map(group).collect(), names }
}

impl Test {
    fn fits(&self, case: &Case, trail: &str) -> bool {
        let Some(value) = self.attribute.of(case, trail) else { return false };
        match &self.holds {
            Holds::Equal(text, wanted) => (value == text) == *wanted,
            Holds::Matches(regex, wanted) => regex.is_match(value) == *wanted,
            Holds::Order(order, or_equal, bound) => {
                let number = value.parse::<f64>().ok();
                number
                    .and_then(|number| number.partial_cmp(bound))
                    .is_some_and(|found| found == *order || (*or_equal && found == std::cmp::Ordering::Equal))
            }
        }
    }
}

struct Parser<'a> {
    word: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.word[self.at..]
    }

    fn error<T>(&self, at: usize, problem: &str, allowed: &str) -> Result<T, QueryError> {
        let column = self.word[..at].chars().count() + 1;
        Err(QueryError::word(OPTION, self.word, format!("at character {column}: {problem}"), allowed))
    }

    fn rules(mut self) -> Result<Vec<GroupRule>, QueryError> {
        let mut rules = Vec::new();
        loop {
            rules.push(self.rule()?);
            if rules.len() > MOST_RULES {
                return self.error(self.at, "too many groups", "write at most 1000");
            }
            if self.rest().is_empty() {
                return Ok(rules);
            }
            self.at += 1;
        }
    }

    fn rule(&mut self) -> Result<GroupRule, QueryError> {
        let name = self.name();
        let from = self.at;
        let mut tests = vec![self.test()?];
        while self.rest().starts_with('&') {
            self.at += 1;
            tests.push(self.test()?);
        }
        let name = name.unwrap_or_else(|| self.word[from..self.at].trim().to_owned());
        Ok(GroupRule { name, tests })
    }

    /// The text before a colon that stands before any operator.
    fn name(&mut self) -> Option<String> {
        let rest = self.rest();
        let end = rest.find([':', '=', '~', '!', '<', '>', ',', ';', '&'])?;
        let name = rest[..end].trim();
        if !rest[end..].starts_with(':') || name.is_empty() {
            return None;
        }
        let name = name.to_owned();
        self.at += end + 1;
        Some(name)
    }

    fn test(&mut self) -> Result<Test, QueryError> {
        self.at += self.rest().len() - self.rest().trim_start().len();
        let start = self.at;
        let length = self.rest().bytes().take_while(u8::is_ascii_alphabetic).count();
        let Some(attribute) = Attribute::from_name(&self.rest()[..length]) else {
            let found = iotrail_model::text::printable(&self.rest()[..length]).into_owned();
            let allowed = format!(
                "write one of {}, alone or as in cid=a;cid=b or small:cid~^s,large:cid~^l",
                attribute::NAMES
            );
            return self.error(start, &format!("`{found}` is not an attribute of a case"), &allowed);
        };
        self.at += length;
        let operator =
            ["!=", "!~", "<=", ">=", "=", "~", "<", ">"].into_iter().find(|op| self.rest().starts_with(op));
        let Some(operator) = operator else {
            return self.error(
                self.at,
                "no operator after the attribute",
                "write one of = != ~ !~ < <= > >=",
            );
        };
        self.at += operator.len();
        let place = self.at;
        let value = self.value()?;
        self.holds(place, operator, value).map(|holds| Test { attribute, holds })
    }

    fn value(&mut self) -> Result<String, QueryError> {
        let start = self.at;
        if let Some(quote) = self.rest().chars().next().filter(|c| matches!(c, '\'' | '"')) {
            let Some(length) = self.rest()[1..].find(quote) else {
                return self.error(
                    start,
                    "the quote is not closed",
                    "end the value with the quote it begins with",
                );
            };
            let value = self.rest()[1..=length].to_owned();
            self.at += length + 2;
            if !self.rest().is_empty() && !self.rest().starts_with([',', ';', '&']) {
                return self.error(self.at, "text after the closing quote", "write , or ; or & or nothing");
            }
            return Ok(value);
        }
        let length = self.rest().find([',', ';', '&']).unwrap_or(self.rest().len());
        let value = self.rest()[..length].trim().to_owned();
        if value.is_empty() {
            return self.error(start, "no value after the operator", "write a value; an empty one is ''");
        }
        self.at += length;
        Ok(value)
    }

    fn holds(&self, index: usize, operator: &str, value: String) -> Result<Holds, QueryError> {
        use std::cmp::Ordering::{Greater, Less};
        let (order, or_equal) = match operator {
            "=" | "!=" => return Ok(Holds::Equal(value, operator == "=")),
            "~" | "!~" => {
                return match RegexBuilder::new(&value).size_limit(REGEX_LIMIT).build() {
                    Ok(regex) => Ok(Holds::Matches(regex, operator == "~")),
                    Err(error) => self.error(
                        index,
                        &regex_problem(&error),
                        "write a regular expression, in quotes if it has , ; or &",
                    ),
                };
            }
            _ => (if operator.starts_with('<') { Less } else { Greater }, operator.ends_with('=')),
        };
        match value.parse::<f64>() {
            Ok(bound) if bound.is_finite() => Ok(Holds::Order(order, or_equal, bound)),
            _ => self.error(index, "not a number", "< <= > >= compare numbers"),
        }
    }
}

/// The essence of a message of the regex crate, in one line.
pub(crate) fn regex_problem(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(_) => "the regular expression is too large".to_owned(),
        _ => {
            let text = error.to_string();
            let last = text.lines().next_back().unwrap_or_default();
            format!("not a regular expression ({})", last.trim_start_matches("error: "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::{CaseId, CaseName};

    fn cases() -> Vec<Case> {
        let case = |id: u32, cid: &str, rid: Option<&str>| Case {
            id: CaseId(id),
            name: CaseName { cid: Some(cid.into()), host: Some("n1".into()), rid: rid.map(Into::into) },
            ..Case::default()
        };
        vec![case(0, "a", Some("10")), case(1, "b", Some("9")), case(2, "a", None), case(3, "sx", Some("x"))]
    }

    fn divide(word: &str) -> (Vec<String>, Vec<Option<u32>>) {
        let cases = cases();
        let groups = GroupBy::parse(word).unwrap().divide(&cases, |_| "t");
        (groups.names, groups.of_case.into_iter().map(|id| id.map(|id| id.0)).collect())
    }

    fn names(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    #[test]
    fn an_attribute_makes_a_group_of_each_value() {
        assert_eq!(divide("cid"), (names(&["a", "b", "sx"]), vec![Some(0), Some(1), Some(0), Some(2)]));
        assert_eq!(divide("rid"), (names(&["9", "10", "x"]), vec![Some(1), Some(0), None, Some(2)]));
        assert_eq!(divide("label"), (vec![], vec![None; 4]));
        assert_eq!(divide("trail"), (names(&["t"]), vec![Some(0); 4]));
    }

    #[test]
    fn trails_keep_the_order_in_which_they_are_given() {
        let cases = cases();
        let groups = GroupBy::parse("trail")
            .unwrap()
            .divide(&cases, |case| if case.id == CaseId(0) { "z-before" } else { "a-after" });
        assert_eq!(groups.names, names(&["z-before", "a-after"]));
        assert_eq!(groups.of_case, [0, 1, 1, 1].map(|id| Some(GroupId(id))));
    }

    #[test]
    fn values_stand_in_the_order_of_the_trails_that_bring_them() {
        let trail = |case: &Case| if case.id == CaseId(3) { "first" } else { "second" };
        let mut cases = cases();
        cases.rotate_right(1);
        let groups = GroupBy::parse("cid").unwrap().divide(&cases, trail);
        assert_eq!(groups.names, names(&["sx", "a", "b"]));
        assert_eq!(groups.of_case, [0, 1, 2, 1].map(|id| Some(GroupId(id))));
    }

    #[test]
    fn groups_that_are_named_come_first() {
        let cases = cases();
        let groups =
            GroupBy::parse("cid").unwrap().divide(&cases, |_| "t").led_by(&names(&["sx", "none", "b"]));
        assert_eq!(groups.names, names(&["sx", "b", "a"]));
        assert_eq!(groups.of_case, [2, 1, 2, 0].map(|id| Some(GroupId(id))));
    }

    #[test]
    fn rules_keep_their_order_and_the_first_that_fits_decides() {
        assert_eq!(
            divide("cid=b;cid=a"),
            (names(&["cid=b", "cid=a"]), vec![Some(1), Some(0), Some(1), None])
        );
        assert_eq!(
            divide("low:rid<10,high:rid>=10"),
            (names(&["low", "high"]), vec![Some(1), Some(0), None, None])
        );
        assert_eq!(
            divide("s:cid~^s,rest:cid!=a & host=n1"),
            (names(&["s", "rest"]), vec![None, Some(1), None, Some(0)])
        );
        assert_eq!(
            divide("one:cid=a;other:cid='b';one:cid~'x{1,2}'"),
            (names(&["one", "other"]), vec![Some(0), Some(1), Some(0), Some(0)])
        );
    }

    #[test]
    fn errors_name_the_place() {
        let error = |word: &str| GroupBy::parse(word).unwrap_err().to_string();
        insta::assert_snapshot!(
            [
                "",
                "cid",
                "cid=a;x=b",
                "cid a",
                "cid=",
                "cid='a",
                "cid='a'b",
                "a:cid~(",
                "rid<x",
                "cid=a,",
                "cid~\\w{900}{900}"
            ]
            .iter()
            .filter(|word| GroupBy::parse(word).is_err())
            .map(|word| error(word))
            .collect::<Vec<_>>()
            .join("\n")
        );
    }

    proptest::proptest! {
        #[test]
        fn no_word_panics(word in "[a-dh-t:=~!<>,;&'\" (é\\\\]{0,24}") {
            let _ = GroupBy::parse(&word);
        }
    }
}
