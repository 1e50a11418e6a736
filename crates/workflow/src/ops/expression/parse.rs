//! The parser: by descent, of bounded depth.

use super::attribute::{Attribute, KINDS, NAMES, ValueType};
use super::{Holds, Node, Relation};
use crate::ops::OpError;
use globset::GlobBuilder;
use iotrail_model::quantity;
use iotrail_model::text::printable;
use regex::RegexBuilder;

const REGEX_LIMIT: usize = 1 << 20;
const MOST_TESTS: usize = 1000;
const DEEPEST: usize = 64;
const EXAMPLE: &str = "as in kind=process & exe=mAdd, or path~^/data | bytes>1MB";

pub(super) fn parse(option: &'static str, text: &str) -> Result<Node, OpError> {
    let mut parser = Parser { option, text, at: 0, depth: 0, tests: 0 };
    let node = parser.any()?;
    match parser.peek() {
        None => Ok(node),
        Some(_) => parser.error(parser.at, "an expression ended before", "write & or | between two tests"),
    }
}

struct Parser<'a> {
    option: &'static str,
    text: &'a str,
    at: usize,
    depth: usize,
    tests: usize,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// The next character that is no space; the parser stands before it.
    fn peek(&mut self) -> Option<char> {
        self.at += self.rest().len() - self.rest().trim_start().len();
        self.rest().chars().next()
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn error<T>(&self, at: usize, problem: &str, allowed: &str) -> Result<T, OpError> {
        let column = self.text[..at].chars().count() + 1;
        Err(OpError::word(self.option, self.text, format!("at character {column}: {problem}"), allowed))
    }

    fn any(&mut self) -> Result<Node, OpError> {
        let mut nodes = vec![self.all()?];
        while self.eat('|') {
            nodes.push(self.all()?);
        }
        Ok(Node::Any(nodes))
    }

    fn all(&mut self) -> Result<Node, OpError> {
        let mut nodes = vec![self.unary()?];
        while self.eat('&') {
            nodes.push(self.unary()?);
        }
        Ok(Node::All(nodes))
    }

    fn unary(&mut self) -> Result<Node, OpError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return self.error(self.at, "too deep", "write at most 64 parentheses and ! in each other");
        }
        let node = if self.eat('!') {
            Node::Not(Box::new(self.unary()?))
        } else if self.peek() == Some('(') {
            let open = self.at;
            self.at += 1;
            let node = self.any()?;
            if !self.eat(')') {
                return self.error(
                    open,
                    "the parenthesis is not closed",
                    "write ) after the expression in it",
                );
            }
            node
        } else {
            self.test()?
        };
        self.depth -= 1;
        Ok(node)
    }

    fn test(&mut self) -> Result<Node, OpError> {
        self.tests += 1;
        if self.tests > MOST_TESTS {
            return self.error(self.at, "too many tests", "write at most 1000");
        }
        let attribute = self.attribute()?;
        self.peek();
        let operators = ["!=", "!~", "<=", ">=", "=", "~", "<", ">"];
        let Some(operator) = operators.into_iter().find(|op| self.rest().starts_with(op)) else {
            return self.error(
                self.at,
                "no operator after the attribute",
                "write one of = != ~ !~ < <= > >=",
            );
        };
        let place = self.at;
        self.at += operator.len();
        self.peek();
        let value_at = self.at;
        let value = self.value()?;
        let holds = match attribute.value_type() {
            ValueType::Text | ValueType::Path => {
                self.text_test(&attribute, place, value_at, operator, value)?
            }
            value_type => self.number_test(value_type, place, value_at, operator, &value)?,
        };
        Ok(Node::Test(attribute, holds))
    }

    fn attribute(&mut self) -> Result<Attribute, OpError> {
        self.peek();
        let start = self.at;
        let length = self.rest().bytes().take_while(u8::is_ascii_alphabetic).count();
        let name = &self.rest()[..length];
        let allowed = format!("write one of {NAMES}, {EXAMPLE}");
        if name == "env" && self.rest()[length..].starts_with(':') {
            let variable = &self.rest()[length + 1..];
            let length = variable.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
            if length == 0 {
                return self.error(start, "`env:` without a name", "write env:NAME=value");
            }
            let name = variable[..length].to_owned();
            self.at += "env:".len() + length;
            return Ok(Attribute::Env(name));
        }
        let Some(attribute) = Attribute::from_name(name) else {
            let problem = match (name, self.rest().chars().next()) {
                ("", None) => "a test is missing".to_owned(),
                ("", Some(found)) => format!("`{}` begins no test", printable(&found.to_string())),
                _ => format!("`{name}` is not an attribute of a vertex"),
            };
            return self.error(start, &problem, &allowed);
        };
        self.at += length;
        Ok(attribute)
    }

    fn value(&mut self) -> Result<String, OpError> {
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
            return Ok(value);
        }
        let length = self.rest().find(['&', '|', ')']).unwrap_or(self.rest().len());
        let value = self.rest()[..length].trim().to_owned();
        if value.is_empty() {
            return self.error(start, "no value after the operator", "write a value; an empty one is ''");
        }
        self.at += length;
        Ok(value)
    }

    fn text_test(
        &self,
        attribute: &Attribute,
        index: usize,
        value_at: usize,
        operator: &str,
        value: String,
    ) -> Result<Holds, OpError> {
        match operator {
            "=" | "!=" => {
                let wanted = operator == "=";
                if *attribute == Attribute::Kind && !KINDS.contains(&value.as_str()) {
                    let problem = format!("`{}` is not a kind of vertex", printable(&value));
                    return self.error(value_at, &problem, &format!("write one of {}", KINDS.join(", ")));
                }
                if !value.contains(['*', '?']) {
                    return Ok(Holds::Equal(value, wanted));
                }
                let separates = attribute.value_type() == ValueType::Path && value.contains('/');
                match GlobBuilder::new(&value).literal_separator(separates).build() {
                    Ok(glob) => Ok(Holds::Glob(glob.compile_matcher(), wanted)),
                    Err(error) => {
                        let problem = format!("not a glob ({})", error.kind());
                        self.error(value_at, &problem, "* is any text, ? any character, [ab] one of these")
                    }
                }
            }
            "~" | "!~" => match RegexBuilder::new(&value).size_limit(REGEX_LIMIT).build() {
                Ok(regex) => Ok(Holds::Matches(regex, operator == "~")),
                Err(error) => self.error(
                    value_at,
                    &regex_problem(&error),
                    "write a regular expression, in quotes if it has & | or )",
                ),
            },
            _ => self.error(index, "this attribute is a text and has no order", "write = != ~ or !~"),
        }
    }

    fn number_test(
        &self,
        value_type: ValueType,
        index: usize,
        value_at: usize,
        operator: &str,
        value: &str,
    ) -> Result<Holds, OpError> {
        let relation = match operator {
            "=" => Relation::Equal,
            "!=" => Relation::Unequal,
            "<" => Relation::Less,
            "<=" => Relation::LessOrEqual,
            ">" => Relation::Greater,
            ">=" => Relation::GreaterOrEqual,
            _ => {
                return self.error(
                    index,
                    "this attribute is a number and no text",
                    "write = != < <= > or >=",
                );
            }
        };
        let (number, allowed) = match value_type {
            ValueType::Bytes => (quantity::bytes(value), "write bytes as 4096, 4kB or 1.5MiB"),
            ValueType::Span => (quantity::span(value), "write a span as 20ms, 1.5s, 2min or 1h"),
            ValueType::Count | ValueType::Text | ValueType::Path => {
                (value.parse().map_err(|_| "not a whole number".to_owned()), "write a whole number")
            }
        };
        match number {
            Ok(number) => Ok(Holds::Number(relation, number)),
            Err(problem) => self.error(value_at, &format!("`{}`: {problem}", printable(value)), allowed),
        }
    }
}

/// The essence of a message of the regex crate, in one line.
fn regex_problem(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(_) => "the regular expression is too large".to_owned(),
        _ => {
            let text = error.to_string();
            let last = text.lines().next_back().unwrap_or_default();
            format!("not a regular expression ({})", last.trim_start_matches("error: "))
        }
    }
}
