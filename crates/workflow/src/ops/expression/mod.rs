//! Which vertices: an expression on their attributes.
//!
//! ```text
//! expr  = and { "|" and }
//! and   = unary { "&" unary }
//! unary = "!" unary | "(" expr ")" | test
//! test  = attribute op value
//! op    = "=" | "!="                     text, or a glob if it has * or ?; numbers
//!       | "~" | "!~"                     regular expression (unanchored)
//!       | "<" | "<=" | ">" | ">="        numbers, 4KiB, 1.5s
//! value = everything up to one of & | ) or a text in '…' or "…"
//! ```
//! A test on something that a vertex does not have (the executable of a file, a host that was not recorded) does not hold,
//! with `!=` neither; `!(…)` is everything else.

mod attribute;
mod parse;
mod totals;

use crate::graph::{Graph, VertexId};
use crate::ops::OpError;
use crate::ops::adjacency::vertices;
use attribute::Attribute;
use globset::GlobMatcher;
use regex::Regex;
use std::cmp::Ordering;
use totals::Totals;

pub use attribute::NAMES;

/// A parsed expression.
#[derive(Clone, Debug)]
pub struct Expression {
    text: String,
    node: Node,
}

#[derive(Clone, Debug)]
enum Node {
    Any(Vec<Node>),
    All(Vec<Node>),
    Not(Box<Node>),
    Test(Attribute, Holds),
}

/// When a test holds.
#[derive(Clone, Debug)]
enum Holds {
    Equal(String, bool),
    Glob(GlobMatcher, bool),
    Matches(Regex, bool),
    Number(Relation, i64),
}

/// How a number stands to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Relation {
    fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::Unequal => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }
}

impl Expression {
    /// Parses the grammar of this module; `option` is where it was written.
    ///
    /// # Errors
    /// With the place in `text`, what was found there and what is allowed.
    pub fn parse(option: &'static str, text: &str) -> Result<Self, OpError> {
        Ok(Self { text: text.trim().to_owned(), node: parse::parse(option, text)? })
    }

    /// The expression as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The vertices for which it holds.
    #[must_use]
    pub fn matches(&self, graph: &Graph) -> Vec<VertexId> {
        let totals = Totals::new(graph);
        vertices(graph).filter(|vertex| self.node.holds(graph, &totals, *vertex)).collect()
    }
}

impl Node {
    fn holds(&self, graph: &Graph, totals: &Totals, vertex: VertexId) -> bool {
        match self {
            Self::Any(nodes) => nodes.iter().any(|node| node.holds(graph, totals, vertex)),
            Self::All(nodes) => nodes.iter().all(|node| node.holds(graph, totals, vertex)),
            Self::Not(node) => !node.holds(graph, totals, vertex),
            Self::Test(attribute, holds) => match holds {
                Holds::Number(relation, bound) => attribute
                    .number(graph, totals, vertex)
                    .is_some_and(|value| relation.holds(value.cmp(bound))),
                Holds::Equal(text, wanted) => text_holds(attribute, graph, vertex, *wanted, |v| v == text),
                Holds::Glob(glob, wanted) => {
                    text_holds(attribute, graph, vertex, *wanted, |v| glob.is_match(v))
                }
                Holds::Matches(regex, wanted) => {
                    text_holds(attribute, graph, vertex, *wanted, |v| regex.is_match(v))
                }
            },
        }
    }
}

fn text_holds(
    attribute: &Attribute,
    graph: &Graph,
    vertex: VertexId,
    wanted: bool,
    fits: impl Fn(&str) -> bool,
) -> bool {
    let values = attribute.texts(graph, vertex);
    !values.is_empty() && values.iter().any(|value| fits(value)) == wanted
}
