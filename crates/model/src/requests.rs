//! The requests that a call of MPI is about, as the column `args` has them: `requests=2-0,p1`; by which function those were
//! made that it starts, `by=MPI_Send_init`; how much each start of the one moves that it makes, `bytes=8`.
//!
//! Source: spec/structure, section 2.

use std::fmt::{self, Display, Formatter, Write};
use std::str::FromStr;

/// A request, from where a call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Its thread began so many others after it (but persistent ones).
    Age(u32),
    /// A persistent one: the smallest number that was free when it was made.
    Persistent(u32),
    /// One that another thread began.
    Elsewhere,
}

/// What a call says of requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requests<'a> {
    /// Those that it made (persistent ones), was given, or completed.
    pub list: Vec<Request>,
    /// The function that made those which it starts.
    pub by: Option<&'a str>,
    /// Bytes that each start of the one gives that it made.
    pub bytes: Option<u64>,
}

const NAME: &str = "requests=";
const NONE: &str = "none";
const BY: &str = " by=";
const BYTES: &str = " bytes=";

/// A longer text is not kept.
const LONGEST: usize = 4096;
/// More requests are not read.
const MOST: usize = 1 << 20;

impl<'a> Requests<'a> {
    /// As text; none if that would be too long.
    #[must_use]
    pub fn to_text(&self) -> Option<String> {
        let text = self.to_string();
        (text.len() <= LONGEST).then_some(text)
    }

    /// What a text says; none if it is no such text.
    #[must_use]
    pub fn parse(text: &'a str) -> Option<Self> {
        let text = text.strip_prefix(NAME).filter(|text| text.len() <= LONGEST)?;
        let (text, bytes) = text.split_once(BYTES).map_or((text, None), |(text, bytes)| (text, Some(bytes)));
        let (list, by) = text.split_once(BY).map_or((text, None), |(list, by)| (list, Some(by)));
        let is_function = |name: &str| {
            name.starts_with("MPI_") && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        if !by.is_none_or(is_function) {
            return None;
        }
        let bytes = match bytes {
            Some(bytes) => Some(number(bytes)?),
            None => None,
        };
        let mut requests = Self { list: Vec::new(), by, bytes };
        if list != NONE {
            list.split(',').try_for_each(|run| add_run(run, &mut requests.list))?;
        }
        Some(requests)
    }
}

/// Adds the requests of a run: `7`, `3-1`, `p0-p2`, `?`.
fn add_run(run: &str, list: &mut Vec<Request>) -> Option<()> {
    if run == "?" {
        list.push(Request::Elsewhere);
        return Some(());
    }
    let (first, last) = run.split_once('-').unwrap_or((run, run));
    let (kind, first, last): (fn(u32) -> Request, u32, u32) = match first.strip_prefix('p') {
        Some(first) => (Request::Persistent, number(first)?, number(last.strip_prefix('p')?)?),
        None => (Request::Age, number(first)?, number(last)?),
    };
    if list.len() + first.abs_diff(last) as usize >= MOST {
        return None;
    }
    if first <= last {
        list.extend((first..=last).map(kind));
    } else {
        list.extend((last..=first).rev().map(kind));
    }
    Some(())
}

/// A number without sign.
fn number<N: FromStr>(digits: &str) -> Option<N> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

impl Display for Request {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Age(age) => write!(out, "{age}"),
            Self::Persistent(number) => write!(out, "p{number}"),
            Self::Elsewhere => out.write_char('?'),
        }
    }
}

/// The step from a request to the next one, if a run can have both.
fn step(one: Request, next: Request) -> Option<i64> {
    match (one, next) {
        (Request::Age(one), Request::Age(next)) | (Request::Persistent(one), Request::Persistent(next)) => {
            Some(i64::from(next) - i64::from(one)).filter(|step| step.abs() == 1)
        }
        _ => None,
    }
}

impl Display for Requests<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(NAME)?;
        if self.list.is_empty() {
            out.write_str(NONE)?;
        }
        let mut rest = &self.list[..];
        while let Some(&first) = rest.first() {
            if rest.len() < self.list.len() {
                out.write_char(',')?;
            }
            let direction = rest.get(1).and_then(|&next| step(first, next));
            let follows = |pair: &[Request]| step(pair[0], pair[1]) == direction;
            let more = direction.map_or(0, |_| rest.windows(2).take_while(|pair| follows(pair)).count());
            write!(out, "{first}")?;
            if more > 0 {
                write!(out, "-{}", rest[more])?;
            }
            rest = &rest[more + 1..];
        }
        self.by.map_or(Ok(()), |by| write!(out, "{BY}{by}"))?;
        self.bytes.map_or(Ok(()), |bytes| write!(out, "{BYTES}{bytes}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn request() -> impl Strategy<Value = Request> {
        prop_oneof![
            (0_u32..6).prop_map(Request::Age),
            (0_u32..6).prop_map(Request::Persistent),
            any::<u32>().prop_map(Request::Age),
            Just(Request::Elsewhere),
        ]
    }

    #[test]
    fn runs_are_short() {
        let ages = |ages: &[u32]| ages.iter().map(|age| Request::Age(*age)).collect::<Vec<_>>();
        let text = |list, by| Requests { list, by, bytes: None }.to_string();
        assert_eq!(text(ages(&[3, 2, 1, 0]), None), "requests=3-0");
        assert_eq!(text(ages(&[0, 1, 5, 5, 4]), None), "requests=0-1,5,5-4");
        assert_eq!(text(vec![], None), "requests=none");
        let starts = vec![Request::Persistent(0), Request::Persistent(1), Request::Elsewhere];
        assert_eq!(text(starts, Some("MPI_Send_init")), "requests=p0-p1,? by=MPI_Send_init");
    }

    #[test]
    fn other_texts_are_none() {
        for text in [
            "",
            "requests=",
            "requests=x",
            "requests=1-p2",
            "requests=1,",
            "requests=0-4000000000",
            "requests=+1",
            "requests=1 by=rm",
            "requests=1 bytes=-3",
            "requests=1 bytes=1 by=MPI_a",
            "requests=1 by=MPI_a b",
            "O_RDONLY",
            "requests=99999999999",
        ] {
            assert_eq!(Requests::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn texts_come_back(list in prop::collection::vec(request(), 0..40), by in prop::bool::ANY, bytes: Option<u64>) {
            let requests = Requests { list, by: by.then_some("MPI_Recv_init"), bytes };
            let again = requests.to_string();
            prop_assert_eq!(Requests::parse(&again), Some(requests));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "(requests=)?[0-9p?,-]{0,30}( by=MPI_[a-z]{0,5})?( bytes=[0-9]{0,21})?") {
            if let Some(requests) = Requests::parse(&text) {
                let again = requests.to_string();
                prop_assert_eq!(Requests::parse(&again), Some(requests));
            }
        }
    }
}
