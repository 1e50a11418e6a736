//! Messages of which it is drawn how many there are, to whom, or with which tags: senders decide.
//!
//! Recorded receives are not made. A rank receives what is sent to it, at its recorded receives and waits: there it waits for
//! each message that was sent from a place before. A place is the same for all ranks, so the wait of the lowest place needs only
//! sends that nothing keeps from being made, and a collective call is one place for all. Messages of all communicators go over that of all
//! ranks: the place of one may be before the place where its communicator is made.
//!
//! Source: Scala-H-Trace, sections 5.1.1 to 5.1.3.

use crate::mpi_calls::{Known, known};
use iotrail_compress::{CompressError, Place, draws_messages, each_placed_event};
use iotrail_model::CaseId;
use iotrail_stats::messages::communicators::{Communicators, Member, WORLD};
use iotrail_structure_file::Document;
use std::collections::{HashMap, VecDeque};

/// A message that a rank is sent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Message {
    place: Vec<(u32, u32)>,
    from: u32,
    tag: i32,
}

/// The ranks of the members of all communicators among all ranks.
#[derive(Debug, Default)]
pub(crate) struct WorldRanks(HashMap<(u32, u32), u32>);

impl WorldRanks {
    pub(crate) fn of(document: &Document, communicators: &Communicators) -> Self {
        let ranks: HashMap<CaseId, u32> = document.lines.iter().map(|line| (line.case, line.rank)).collect();
        let members = communicators.members();
        let of_member =
            |((case, _), _, member): (_, _, Member)| Some(((member.group, member.rank), *ranks.get(&case)?));
        Self(members.filter_map(of_member).collect())
    }

    /// The rank of a partner of a member; none of one that is not known.
    pub(crate) fn partner(&self, member: Member, peer: i32) -> Option<u32> {
        self.0.get(&(member.group, u32::try_from(peer).ok()?)).copied()
    }
}

/// What each rank is sent and has not received.
#[derive(Debug, Default)]
pub(crate) struct Inboxes(HashMap<u32, VecDeque<Message>>);

impl Inboxes {
    /// The messages of a structure in which some are drawn; NULL of any other.
    pub(crate) fn of(
        document: &Document,
        seed: u64,
        (communicators, world): (&Communicators, &WorldRanks),
    ) -> Result<Option<Self>, CompressError> {
        if !draws_messages(document) {
            return Ok(None);
        }
        let calls: Vec<Known> = document.names.calls.iter().map(|name| known(name)).collect();
        let mut inboxes: HashMap<u32, Vec<Message>> = HashMap::new();
        each_placed_event(document, seed, &mut |line, event, place| {
            let sends =
                matches!(calls[event.call.index()], Known::Send(..) | Known::Buffered | Known::Exchange);
            let to = || {
                let comm = event.comm.get().unwrap_or(WORLD);
                world.partner(communicators.member((event.case, event.pid), comm)?, event.peer.get()?)
            };
            if sends
                && event.errno.is_null()
                && let Some(to) = to()
            {
                let from = document.lines[line as usize].rank;
                let tag = event.tag.get().unwrap_or(-1);
                inboxes.entry(to).or_default().push(Message { place: place.to_vec(), from, tag });
            }
            Ok(())
        })?;
        // Sorting is stable, so messages of one sender stay in the order in which they are sent.
        let sorted = inboxes.into_iter().map(|(rank, mut messages)| {
            messages.sort_by(|one, other| (&one.place, one.from).cmp(&(&other.place, other.from)));
            (rank, messages.into())
        });
        Ok(Some(Self(sorted.collect())))
    }

    /// Takes what a rank is sent from before a place, or all that is left: sender and tag of each.
    pub(crate) fn take(&mut self, rank: u32, before: Option<&Place>) -> Vec<(i32, i32)> {
        let Some(inbox) = self.0.get_mut(&rank) else { return Vec::new() };
        let mut taken = Vec::new();
        while let Some(message) = inbox.pop_front_if(|first| before.is_none_or(|place| &*first.place < place))
        {
            taken.push((message.from as i32, message.tag));
        }
        taken
    }
}
