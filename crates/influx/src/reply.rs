//! What an answer to a batch means.

use crate::http::Reply;
use serde_json::Value;
use std::time::Duration;

/// Longest piece of an answer that is shown.
const SHOWN: usize = 300;

/// What an answer to a batch means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// All points are there.
    Accepted,
    /// The server took what it could, and says how many points it dropped, if it says so.
    Partial { dropped: u64, message: String },
    /// The body is too large.
    TooLarge,
    /// Compressed bodies may not be understood.
    MaybeCompression,
    /// Later it may work.
    Retry { message: String, after: Option<Duration> },
    /// It will never work.
    Refused { message: String },
}

impl Verdict {
    /// By status and words.
    pub(crate) fn of(reply: &Reply) -> Self {
        let message = message(&reply.body);
        match reply.status {
            200..=299 => Self::Accepted,
            400 | 422 if message.contains("partial write") => {
                Self::Partial { dropped: dropped(&reply.body), message }
            }
            400 | 415 => Self::MaybeCompression,
            413 => Self::TooLarge,
            408 | 429 | 500..=599 => {
                Self::Retry { message: format!("{}: {message}", reply.status), after: reply.retry_after }
            }
            _ => Self::Refused { message },
        }
    }
}

/// What the server said, in one short line.
pub(crate) fn message(body: &str) -> String {
    let parsed = serde_json::from_str::<Value>(body).ok();
    let said =
        parsed.as_ref().and_then(|value| value.get("error").or_else(|| value.get("message"))?.as_str());
    let line: Vec<&str> = said.unwrap_or(body).split_whitespace().collect();
    line.join(" ").chars().take(SHOWN).collect()
}

/// `dropped=5` in the words of 1.x and 2.x, one entry for each refused line in those of 3.x.
fn dropped(body: &str) -> u64 {
    let number = |rest: &str| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
    let listed = || {
        let value: Value = serde_json::from_str(body).ok()?;
        value.get("data")?.as_array().map(|lines| lines.len() as u64)
    };
    body.rsplit_once("dropped=").and_then(|(_, rest)| number(rest)).or_else(listed).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(status: u16, body: &str) -> Verdict {
        Verdict::of(&Reply { status, body: body.to_owned(), retry_after: None })
    }

    #[test]
    fn partial_writes_tell_how_many_points_were_dropped() {
        let dropped = |body| match verdict(400, body) {
            Verdict::Partial { dropped, .. } => dropped,
            other => panic!("{other:?}"),
        };
        assert_eq!(dropped(r#"{"error":"partial write: field type conflict: dropped=7"}"#), 7);
        assert_eq!(dropped(r#"{"error":"partial write: unable to parse 'x dropped=1': bad dropped=0"}"#), 0);
        assert_eq!(
            dropped(
                r#"{"error":"partial write of line protocol occurred","data":[{"line_number":1},{"line_number":2}]}"#
            ),
            2
        );
    }

    #[test]
    fn a_status_says_whether_to_try_again() {
        assert_eq!(verdict(204, ""), Verdict::Accepted);
        assert_eq!(verdict(413, ""), Verdict::TooLarge);
        assert_eq!(verdict(415, ""), Verdict::MaybeCompression);
        for status in [408, 429, 500, 502, 503, 504] {
            assert!(matches!(verdict(status, "busy"), Verdict::Retry { .. }), "{status}");
        }
        for status in [301, 401, 403, 404] {
            assert!(matches!(verdict(status, ""), Verdict::Refused { .. }), "{status}");
        }
    }

    #[test]
    fn what_a_server_says_is_one_short_line() {
        assert_eq!(message(r#"{"code":"x","message":"no such\nbucket"}"#), "no such bucket");
        assert_eq!(message("<html>\n no </html>"), "<html> no </html>");
        assert_eq!(message(&"x".repeat(9999)).len(), SHOWN);
    }
}
