//! Calls in flight on descriptors that other threads change meanwhile.
//!
//! A tracer sees a thread stop when a call begins and when it ends. The kernel looks up what a descriptor stands for in
//! between, once the tracer let the thread go on; a thread that is let go on later may be faster. So a call whose descriptor is
//! replaced while it is in flight may have been about what was there before or about what came, and nobody can say which. What
//! is certain stays certain: a read that succeeded was not made after its descriptor was closed, and a number that a call finds
//! free is free because a close in flight has done its work.
//!
//! The ends of calls are told in the order in which the tracer saw them, which need not be that in which the kernel did their work: a
//! number that an open returns may have been closed and given again by then. It was free when it was given, so what stands
//! there since then came later, unless a close came in between ([`Contested::fate`]). It was free because somebody closed what stood there before: where one call in
//! flight alone can have, it has ([`Contested::frees`]), and does nothing more to the number.
//!
//! Only calls of threads that share their table are watched, and only while they are in flight.

use crate::effect::Effect;
use crate::ids::{DescriptionId, TableId};
use crate::operands::{Base, Operands, PathArg};
use hashbrown::HashMap;
use std::ops::RangeInclusive;

/// Descriptors that one call may use: two, and the directories of two paths.
const MOST: usize = 4;

/// What a call does with a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// It acts on what that stands for.
    Uses,
    /// It closes it.
    Closes,
    /// It lets it stand for something else.
    Replaces,
}

/// A call in flight on a descriptor.
#[derive(Clone, Copy, Debug)]
struct Watch {
    /// The number of the call.
    call: u64,
    how: How,
    /// What the descriptor stood for when the call began.
    stood_for: Option<DescriptionId>,
    /// It stood for something else meanwhile.
    changed: bool,
    /// It was closed meanwhile.
    closed: bool,
    /// The call has closed it, though nobody told yet that it is over.
    done: bool,
    /// It stood for nothing when the call began, or may have been replaced since.
    is_unsure: bool,
    /// It may have stood for anything, or for nothing.
    is_any: bool,
}

impl Watch {
    /// Whether it is unknown because of this what the descriptor stood for in the call `own`, which is over. What was closed may
    /// be `given` again by a call in flight, and what was given may have been so by one before: `early`.
    fn hides(&self, own: Option<u64>, numbers: &Numbers, outcome: Outcome, given: bool, early: bool) -> bool {
        let is_bad = outcome == Outcome::BadDescriptor;
        match (Some(self.call) == own, self.how) {
            (true, How::Uses) => self.changed || self.closed && (is_bad || given),
            (true, How::Closes) => {
                let came_late = self.is_unsure && (self.done || early);
                let may_have_come = self.is_any && self.stood_for.is_some();
                self.changed || self.closed && is_bad || came_late || may_have_come
            }
            (false, How::Closes) => !self.done && (is_bad || numbers.closes || given),
            (false, How::Replaces) => true,
            (true, How::Replaces) | (false, How::Uses) => false,
        }
    }

    /// Whether it gives the descriptor to something else while the call `own` does, which is over.
    fn replaces_beside(&self, own: Option<u64>) -> bool {
        self.how == How::Replaces && (self.changed || self.closed || Some(self.call) != own)
    }

    fn closes(&mut self) {
        self.closed = true;
        self.changed |= self.how == How::Closes && !self.done;
    }
}

/// The descriptors that a call in flight is watched for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watched {
    /// The number of the call.
    pub(crate) call: u64,
    table: TableId,
    closes_many: bool,
    /// When it was over, it had closed its descriptor long ago, and what that stands for came later.
    pub(crate) has_closed: bool,
    numbers: [Option<i32>; MOST],
}

/// The descriptors that a call is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    /// Those that it acts on, and the directories that its paths start at.
    used: [Option<i32>; MOST],
    closes: bool,
    /// It closes a range of others.
    closes_many: bool,
    /// It may make a descriptor, whose number is not known before.
    makes: bool,
    /// The number that it gives to something else.
    replaced: Option<i32>,
}

impl Numbers {
    /// Of a call with that effect.
    pub(crate) fn of(operands: &Operands<'_>, effect: Effect) -> Self {
        let closes = effect == Effect::Close;
        let closes_many = effect == Effect::CloseRange;
        let replaced = operands.fd2.map(|(fd, _)| fd).filter(|_| effect == Effect::Dup);
        let base = |path: Option<PathArg<'_>>| match path?.base {
            Base::Fd((fd, _)) if !path?.located => Some(fd),
            _ => None,
        };
        let fd2 = operands.fd2.filter(|_| replaced.is_none());
        let fds = [operands.fd, fd2].map(|fd| Some(fd?.0));
        let mut used = [fds[0], fds[1], base(operands.path), base(operands.path2)];
        for index in 1..MOST {
            if used[..index].contains(&used[index]) {
                used[index] = None;
            }
        }
        let makes = match effect {
            Effect::Open | Effect::Anonymous(_) | Effect::Accept | Effect::Fcntl => true,
            Effect::Dup => replaced.is_none(),
            _ => false,
        };
        Self { used, closes, closes_many, makes, replaced }
    }

    /// Whether the call gives a number to something else.
    pub(crate) const fn replaces(&self) -> bool {
        self.replaced.is_some()
    }

    fn used(&self) -> impl Iterator<Item = i32> + use<> {
        self.used.into_iter().flatten()
    }
}

/// All calls in flight that are watched.
#[derive(Debug, Default)]
pub(crate) struct Contested {
    watches: HashMap<(TableId, i32), Vec<Watch>, foldhash::fast::FixedState>,
    /// Grows with each call that begins to be watched, and with each change.
    clock: u64,
    /// Calls that are watched.
    in_flight: u32,
    /// The numbers of those of them that may make descriptors.
    makers: Vec<u64>,
    /// Those that close ranges.
    closing_many: u32,
    /// What happened to numbers, as long as calls are in flight.
    histories: HashMap<(TableId, i32), History, foldhash::fast::FixedState>,
    /// When a call ended last that moved a cursor, and nobody knows which.
    blurred: u64,
    /// The number of the call that ends, and what it replaces.
    ending: (u64, Option<i32>),
}

/// What happened to a number, by [`Contested::clock`]; 0 is never.
#[derive(Clone, Copy, Debug, Default)]
struct History {
    /// When it was told to stand for something else.
    given: u64,
    /// When the call began that gave it.
    giver: u64,
    /// Up to when it may have been closed before it was given.
    freed: u64,
    /// Up to when it may have been closed.
    closed: u64,
    /// When it was found to stand for something that a call in flight may have made.
    found: Unseen,
    /// When a call closed it that found it given before anybody told.
    unseen: Unseen,
}

/// A number stood for something before anybody told what made it.
#[derive(Clone, Copy, Debug, Default)]
struct Unseen {
    at: u64,
    /// Whether one call in flight alone can have made that.
    is_sure: bool,
}

/// What became of a number that a call made, when the call is told to be over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It stands for what the call made.
    Stands,
    /// It stands for something else since, or for nothing.
    Over,
    /// It stands for that or for something else.
    Unclear,
}

impl Contested {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.in_flight == 0
    }

    /// Whether a call in flight may make a descriptor.
    pub(crate) fn is_making(&self) -> bool {
        !self.makers.is_empty()
    }

    /// A call begins; `stands_for` tells what a descriptor stands for before it, and whether it may be anything or nothing.
    pub(crate) fn begins(
        &mut self,
        table: TableId,
        numbers: &Numbers,
        stands_for: impl Fn(i32) -> Option<(DescriptionId, bool)>,
    ) -> Watched {
        if self.in_flight == 0 {
            self.histories.clear();
        }
        self.clock += 1;
        self.in_flight += 1;
        self.makers.extend(numbers.makes.then_some(self.clock));
        self.closing_many += u32::from(numbers.closes_many);
        let how = if numbers.closes { How::Closes } else { How::Uses };
        let used = numbers.used().map(|fd| (fd, how));
        let closes_many = numbers.closes_many;
        let mut watched =
            Watched { call: self.clock, table, closes_many, has_closed: false, numbers: [None; MOST] };
        let mut places = watched.numbers.iter_mut();
        for (fd, how) in numbers.replaced.map(|fd| (fd, How::Replaces)).into_iter().chain(used) {
            let Some(place) = places.next() else { break };
            *place = Some(fd);
            let found = stands_for(fd);
            let stood_for = found.filter(|(_, is_any)| !is_any).map(|(description, _)| description);
            let watch = Watch {
                call: self.clock,
                how,
                stood_for: match found {
                    None => self.being_closed(table, fd),
                    Some(_) => stood_for,
                },
                changed: false,
                closed: false,
                done: false,
                is_unsure: stood_for.is_none(),
                is_any: found.is_some_and(|(_, is_any)| is_any),
            };
            self.watches.entry((table, fd)).or_default().push(watch);
        }
        watched
    }

    /// A call is over.
    pub(crate) fn ends(&mut self, watched: &mut Watched) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.makers.retain(|maker| *maker != watched.call);
        self.closing_many = self.closing_many.saturating_sub(u32::from(watched.closes_many));
        for fd in watched.numbers.into_iter().flatten() {
            let key = (watched.table, fd);
            if let Some(watches) = self.watches.get_mut(&key) {
                watched.has_closed |= watches.iter().any(|watch| watch.call == watched.call && watch.done);
                watches.retain(|watch| watch.call != watched.call);
                if watches.is_empty() {
                    self.watches.remove(&key);
                }
            }
        }
    }

    /// A descriptor stands for something else. Whether a call in flight may act on that already.
    pub(crate) fn stands_for(&mut self, table: TableId, fd: i32, description: DescriptionId) -> bool {
        let given = self.tick();
        let (giver, replaced) = self.ending;
        let is_closing = self.is_closing(table, fd);
        let history = self.histories.entry((table, fd)).or_default();
        let freed = match replaced == Some(fd) {
            // What is replaced need not be closed before.
            true => u64::MAX,
            false if is_closing => given,
            false => history.closed,
        };
        *history = History { given, giver, freed, found: Unseen::default(), ..*history };
        for watch in self.watches.get_mut(&(table, fd)).into_iter().flatten().filter(|watch| !watch.done) {
            match watch.how {
                // It closes what comes now, if anything, or closed what was there before.
                How::Closes => {
                    watch.changed |= watch.stood_for.replace(description).is_some_and(|id| id != description)
                }
                _ => watch.changed |= watch.stood_for != Some(description),
            }
        }
        self.of(table, fd).any(|watch| watch.how == How::Uses && watch.changed)
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    /// A number was found free that stood for something: the call in flight that closes it is done, if there is one that can have.
    pub(crate) fn frees(&mut self, table: TableId, fd: i32) {
        if self.closing_many > 0 {
            return;
        }
        let Some(watches) = self.watches.get_mut(&(table, fd)) else { return };
        let is_replaced = watches.iter().any(|watch| watch.how == How::Replaces);
        let mut may_have = watches.iter_mut().filter(|watch| watch.how == How::Closes && !watch.done);
        if let (Some(watch), None) = (may_have.next(), may_have.next()) {
            watch.done = !watch.closed && watch.stood_for.is_some();
            watch.is_unsure |= watch.done && (is_replaced || watch.changed);
        }
    }

    /// It did for a while, and nobody can say when.
    pub(crate) fn stood_for(&mut self, table: TableId, fd: i32, description: DescriptionId) {
        let watches = self.watches.get_mut(&(table, fd)).into_iter().flatten();
        for watch in watches.filter(|watch| !watch.done) {
            watch.changed |= watch.stood_for != Some(description);
        }
    }

    /// A call closes a descriptor.
    pub(crate) fn closes(&mut self, table: TableId, fd: i32) {
        let closed = self.tick();
        let history = self.histories.entry((table, fd)).or_default();
        let unseen = if history.found.at > 0 { history.found } else { history.unseen };
        *history = History { closed, unseen, found: Unseen::default(), ..*history };
        self.watches.get_mut(&(table, fd)).into_iter().flatten().for_each(Watch::closes);
    }

    /// A call used a descriptor that nobody has told of: a call in flight may have made it.
    pub(crate) fn found(&mut self, table: TableId, fd: i32) {
        if self.is_making() {
            let found = self.unseen(table, fd);
            self.histories.entry((table, fd)).or_default().found = found;
        }
    }

    /// A call closed a descriptor that nobody has told of: a call in flight may have made it, one that began before `since` if
    /// the descriptor was there then.
    pub(crate) fn closed_unseen(&mut self, table: TableId, fd: i32, since: Option<u64>, is_sure: bool) {
        if self.is_making() {
            let unseen = self.unseen(table, fd);
            let at = since.unwrap_or(unseen.at);
            let makers = self.makers.iter().filter(|maker| **maker < at).count();
            let is_sure = is_sure && unseen.is_sure && makers == 1;
            self.histories.entry((table, fd)).or_default().unseen = Unseen { at, is_sure };
        }
    }

    fn unseen(&mut self, table: TableId, fd: i32) -> Unseen {
        let is_replaced = self.of(table, fd).any(|watch| watch.how == How::Replaces);
        Unseen { at: self.tick(), is_sure: self.makers.len() == 1 && !is_replaced }
    }

    /// Whether a call in flight may still close a number.
    fn is_closing(&self, table: TableId, fd: i32) -> bool {
        self.closing_many > 0 || self.of(table, fd).any(|watch| watch.how == How::Closes && !watch.done)
    }

    /// What became of a number that the call `watched` made, which is over.
    pub(crate) fn fate(&self, watched: &Watched, fd: i32) -> Fate {
        let history = self.histories.get(&(watched.table, fd)).copied().unwrap_or_default();
        if history.given > watched.call.max(history.unseen.at) {
            // What it made was closed before the number was given again, or the other way round.
            let is_first = history.freed > watched.call;
            let is_last = history.closed > history.giver || self.is_closing(watched.table, fd);
            return match (is_first, is_last) {
                (true, false) => Fate::Over,
                (false, true) => Fate::Stands,
                _ => Fate::Unclear,
            };
        }
        match history.unseen {
            Unseen { at, .. } if at <= watched.call => Fate::Stands,
            Unseen { is_sure: true, .. } => Fate::Over,
            Unseen { .. } => Fate::Unclear,
        }
    }

    /// A call moved a cursor, and nobody knows which.
    pub(crate) fn blurs(&mut self) {
        self.clock += 1;
        self.blurred = self.clock;
    }

    /// Whether others may have moved the cursor behind the number that the call `watched` made before it was told to be over.
    pub(crate) fn may_be_moved(&self, watched: &Watched, fd: i32) -> bool {
        let found = self.histories.get(&(watched.table, fd)).map_or(0, |history| history.found.at);
        found.max(self.blurred) > watched.call
    }

    /// A call closes the descriptors of a range.
    pub(crate) fn closes_range(&mut self, table: TableId, range: &RangeInclusive<i64>) {
        let in_range = |(of, fd): &(TableId, i32)| *of == table && range.contains(&i64::from(*fd));
        for (_, watches) in self.watches.iter_mut().filter(|(key, _)| in_range(key)) {
            watches.iter_mut().for_each(Watch::closes);
        }
    }

    /// What others changed while a call was in flight, or may have, which is over and was `watched` up to now if it was seen
    /// to begin. Tells other calls in flight what this one does.
    pub(crate) fn unclear(
        &mut self,
        table: TableId,
        numbers: &Numbers,
        watched: Option<Watched>,
        outcome: Outcome,
    ) -> Unclear {
        let own = watched.map(|watched| watched.call);
        // A call that was not seen to begin did so after all that was told before.
        self.ending = (own.unwrap_or(self.clock), numbers.replaced);
        let is_given = self.makers.iter().any(|maker| Some(*maker) != own);
        let is_unclear = |fd: &i32| {
            let early = self.may_be_second(own, table, *fd);
            let hides = |watch: &Watch| watch.hides(own, numbers, outcome, is_given, early);
            let is_sure = self.has_closed(own, table, *fd, outcome).is_some_and(|watch| !watch.is_unsure);
            !is_sure && self.of(table, *fd).any(hides)
        };
        let used = numbers.used().filter(is_unclear).collect();
        let replaced = numbers.replaced.filter(|_| outcome == Outcome::Other);
        let twice = replaced.filter(|fd| self.of(table, *fd).any(|watch| watch.replaces_beside(own)));
        let others = replaced.and_then(|fd| self.watches.get_mut(&(table, fd)));
        for watch in others.into_iter().flatten() {
            watch.changed |= Some(watch.call) != own && watch.how != How::Uses && !watch.done;
        }
        let mut closing = numbers.used().filter(|_| numbers.closes);
        let has_closed = closing.any(|fd| self.has_closed(own, table, fd, outcome).is_some());
        self.close_is_over(own, table, numbers, outcome);
        Unclear { numbers: used, replaced: twice, closed_unseen: None, has_closed }
    }

    /// A close may have had its effect up to now.
    fn close_is_over(&mut self, own: Option<u64>, table: TableId, numbers: &Numbers, outcome: Outcome) {
        for fd in numbers.used().filter(|_| numbers.closes && outcome == Outcome::Other) {
            if self.has_closed(own, table, fd, outcome).is_none() {
                let closed = self.tick();
                self.histories.entry((table, fd)).or_default().closed = closed;
                let others = self.watches.get_mut(&(table, fd)).into_iter().flatten();
                others.for_each(|watch| watch.closed = true);
            }
        }
    }

    /// What a number stood for that a call in flight closes, which may still be there.
    pub(crate) fn being_closed(&self, table: TableId, fd: i32) -> Option<DescriptionId> {
        let closing = self.of(table, fd).filter(|watch| watch.how == How::Closes && !watch.done);
        closing.filter_map(|watch| watch.stood_for).last()
    }

    /// Whether a call in flight may have made what a number stood for before it was given last.
    fn may_be_second(&self, own: Option<u64>, table: TableId, fd: i32) -> bool {
        let given = self.histories.get(&(table, fd)).map_or(0, |history| history.given);
        self.makers.iter().any(|maker| Some(*maker) != own && *maker < given)
    }

    /// What the calls in flight close that began while it was there.
    pub(crate) fn all_being_closed(&self) -> Vec<DescriptionId> {
        let watches = self.watches.values().flatten();
        let closing = watches.filter(|watch| watch.how == How::Closes && !watch.done && !watch.is_unsure);
        closing.filter_map(|watch| watch.stood_for).collect()
    }

    /// The watch of the call `own` if it is known to have closed what a descriptor stood for before it was given again.
    fn has_closed(&self, own: Option<u64>, table: TableId, fd: i32, outcome: Outcome) -> Option<&Watch> {
        let mut closing = self.of(table, fd).filter(|_| outcome == Outcome::Other);
        closing.find(|watch| watch.done && Some(watch.call) == own)
    }

    fn of(&self, table: TableId, fd: i32) -> impl Iterator<Item = &Watch> {
        self.watches.get(&(table, fd)).into_iter().flatten()
    }
}

/// What others changed while a call was in flight.
#[derive(Debug, Default)]
pub(crate) struct Unclear {
    /// The descriptors of which nobody can say what they stood for.
    pub(crate) numbers: Vec<i32>,
    /// The number that another call let stand for something else as well, so that nobody can say which of the two was first.
    pub(crate) replaced: Option<i32>,
    /// The number that it closed, though nobody told that it was open, when the call began if it was found open then, and whether it was
    /// that for sure.
    pub(crate) closed_unseen: Option<(i32, Option<u64>, bool)>,
    /// Whether it closed something before its number was given again, which stays.
    pub(crate) has_closed: bool,
}

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// `EBADF`.
    BadDescriptor,
    /// Anything else.
    Other,
}
