//! Which calls began the requests that others wait for, and what persistent requests are.

use iotrail_model::requests::{Request, Requests};
use iotrail_model::{CaseId, Event, FlagsId, Pid};
use std::collections::HashMap;

/// A process.
pub(crate) type Process = (CaseId, Pid);

/// Requests of all ranks, as far as calls tell.
#[derive(Debug, Default)]
pub(crate) struct Begun {
    /// By line, the call that began each of its requests, in their order; none of one that is not made again.
    of_lines: HashMap<u32, Vec<Option<u32>>>,
    /// By process and number.
    persistent: HashMap<(Process, u32), Persistent>,
    /// Calls that began what others wait for.
    pub(crate) waited: Vec<u32>,
}

/// A persistent request.
#[derive(Debug)]
struct Persistent {
    /// What each start of it is.
    event: Event,
    /// The call that started it last.
    started: Option<u32>,
}

/// What each text of a structure says of requests, by its number.
pub(crate) fn requests_of(texts: &[std::sync::Arc<str>]) -> Vec<Option<Requests<'_>>> {
    texts.iter().map(|text| Requests::parse(text)).collect()
}

/// What a call says of requests.
pub(crate) fn of_event<'a, 'b>(event: &Event, all: &'b [Option<Requests<'a>>]) -> Option<&'b Requests<'a>> {
    let FlagsId(text) = event.args.get()?;
    all.get(text as usize)?.as_ref()
}

impl Begun {
    /// A line began a request by a call that is made again, or not.
    pub(crate) fn begins(&mut self, line: u32, call: Option<u32>) {
        self.of_lines.entry(line).or_default().push(call);
    }

    /// A process made a persistent request, each start of which is the event.
    pub(crate) fn prepares(&mut self, process: Process, number: u32, event: Event) {
        self.persistent.insert((process, number), Persistent { event, started: None });
    }

    /// What a start of a persistent request is.
    pub(crate) fn prepared(&self, process: Process, number: u32) -> Option<Event> {
        self.persistent.get(&(process, number)).map(|persistent| persistent.event)
    }

    /// A persistent request was started by a call that is made again, or not.
    pub(crate) fn starts(&mut self, process: Process, number: u32, call: Option<u32>) {
        if let Some(persistent) = self.persistent.get_mut(&(process, number)) {
            persistent.started = call;
        }
    }

    /// Where the calls stand in `waited` that began these requests, and how many; none if that is not known of all.
    pub(crate) fn wait_for(&mut self, line: u32, process: Process, list: &[Request]) -> Option<(u32, u32)> {
        let first = self.waited.len();
        for request in list {
            let begun = match *request {
                Request::Age(age) => {
                    let of_line = self.of_lines.get(&line).map(Vec::as_slice).unwrap_or_default();
                    let place = of_line.len().checked_sub(age as usize + 1);
                    place.map(|place| of_line[place])
                }
                Request::Persistent(number) => {
                    self.persistent.get(&(process, number)).map(|persistent| persistent.started)
                }
                Request::Elsewhere => None,
            };
            let Some(begun) = begun else {
                self.waited.truncate(first);
                return None;
            };
            self.waited.extend(begun);
        }
        Some((u32::try_from(first).ok()?, (self.waited.len() - first) as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_told_by_their_age_or_their_number() {
        let mut begun = Begun::default();
        let process = (CaseId::default(), Pid::default());
        [Some(4), None, Some(9)].into_iter().for_each(|call| begun.begins(7, call));
        begun.prepares(process, 0, Event::default());
        begun.starts(process, 0, Some(11));
        let mut wait = |list: &[Request]| {
            let found = begun.wait_for(7, process, list);
            found.map(|(first, count)| begun.waited[first as usize..][..count as usize].to_vec())
        };
        assert_eq!(wait(&[Request::Age(0), Request::Age(2)]), Some(vec![9, 4]));
        assert_eq!(wait(&[Request::Age(1), Request::Persistent(0)]), Some(vec![11]), "left out");
        assert_eq!(wait(&[Request::Age(0), Request::Age(3)]), None);
        assert_eq!(wait(&[Request::Elsewhere]), None);
        assert_eq!(wait(&[]), Some(vec![]));
    }
}
