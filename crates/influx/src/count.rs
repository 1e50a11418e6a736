//! How many of the points a server has.

use crate::server::Server;
use serde_json::Value;

/// Points to be counted: those of a measurement with a tag, in a span of time.
#[derive(Clone, Copy, Debug)]
pub struct CountQuery<'a> {
    /// The measurement: letters and `_`.
    pub measurement: &'a str,
    /// A field that each of its points has: letters and `_`.
    pub field: &'a str,
    /// Name and value of a tag.
    pub tag: (&'a str, &'a str),
    /// Time of the first, in ns since the epoch.
    pub first: i64,
    /// Time of the last.
    pub last: i64,
}

/// What a server has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stored {
    /// That many points.
    Points(u64),
    /// It cannot be asked, and why.
    Unknown(String),
}

/// Asks `server` in InfluxQL how many of the points it has.
#[must_use]
pub fn count(server: &Server, wanted: &[CountQuery<'_>]) -> Stored {
    if wanted.is_empty() {
        return Stored::Points(0);
    }
    let questions: Vec<String> = wanted.iter().map(question).collect();
    let reply = match server.query(&questions.join(";")) {
        Ok(reply) if reply.is_success() => reply,
        Ok(reply) => return Stored::Unknown(format!("it answers {} to questions", reply.status)),
        Err(error) => return Stored::Unknown(error),
    };
    let parsed = serde_json::from_str(&reply.body).ok();
    match parsed.and_then(|answer| sum(&answer, wanted.len())) {
        Some(points) => Stored::Points(points),
        None => Stored::Unknown("its answer is not a count".to_owned()),
    }
}

fn question(wanted: &CountQuery<'_>) -> String {
    let CountQuery { measurement, field, tag: (tag, value), first, last } = wanted;
    let value = value.replace('\\', "\\\\").replace('\'', "\\'");
    format!(
        "SELECT count(\"{field}\") FROM \"{measurement}\" \
         WHERE \"{tag}\" = '{value}' AND time >= {first} AND time <= {last}"
    )
}

/// The sum of the counts: each question has a result, which has no series if nothing is there.
fn sum(answer: &Value, questions: usize) -> Option<u64> {
    let results = answer.get("results")?.as_array().filter(|results| results.len() == questions)?;
    let counts = results.iter().map(|result| match (result.get("error"), result.get("series")) {
        (Some(_), _) => None,
        (None, None) => Some(0),
        (None, Some(series)) => series.pointer("/0/values/0/1")?.as_u64(),
    });
    counts.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    const WANTED: CountQuery<'_> =
        CountQuery { measurement: "m", field: "f", tag: ("job", "a'b\\"), first: -1, last: 9 };

    #[test]
    fn names_cannot_end_a_question() {
        assert!(question(&WANTED).contains(r#"WHERE "job" = 'a\'b\\' AND"#));
    }

    #[test]
    fn counts_of_all_questions_are_added() {
        let series = r#"{"series":[{"name":"m","columns":["time","count"],"values":[[0,7]]}]}"#;
        let body = format!("200 OK\n{{\"results\":[{series},{{\"statement_id\":1}}]}}");
        let ask = |body: &str| count(&Fake::answering(&[body]).server(), &[WANTED, WANTED]);
        assert_eq!(ask(&body), Stored::Points(7));
        for body in [
            "200 OK\n{\"results\":[]}",
            "200 OK\n[]",
            "404 None",
            "200 OK\n{\"results\":[{\"error\":\"x\"},{}]}",
        ] {
            assert!(matches!(ask(body), Stored::Unknown(_)), "{body}");
        }
    }
}
