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
//! there since then came later, unless a close came in between ([`crate::histories`]). It was free because somebody closed what
//! stood there before: where one call in flight alone can have, it has ([`Contested::frees`]), and does nothing more to the number.
//!
//! Only calls of threads that share their table are watched ([`crate::watches`]), and only while they are in flight.

use crate::effect::Effect;
use crate::histories::{Fate, Gift, History, Unseen};
use crate::ids::{DescriptionId, TableId};
use crate::operands::{Base, Operands, PathArg};
use crate::watches::{Ended, How, Watch};
use hashbrown::HashMap;
use std::ops::RangeInclusive;

/// Descriptors that one call may use: two, and the directories of two paths.
const MOST: usize = 4;

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

/// A look of the tracer at a descriptor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// The number of the call that is over and about it, if that was seen to begin.
    pub(crate) call: Option<u64>,
    /// Whether that call found the descriptor's number free, and made it.
    pub(crate) is_new: bool,
}

impl Look {
    /// It is about no call that is over.
    pub(crate) const BETWEEN_CALLS: Self = Self { call: None, is_new: false };
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

    /// Whether it may make a descriptor, whose number is not known before.
    pub(crate) const fn makes(&self) -> bool {
        self.makes
    }

    /// The call may make descriptors, though others of its kind do not.
    pub(crate) fn may_make(&mut self, may: bool) {
        self.makes |= may;
    }

    /// The numbers that the call is about.
    pub(crate) fn used(&self) -> impl Iterator<Item = i32> + use<> {
        self.used.into_iter().flatten()
    }
}

/// All calls in flight that are watched.
#[derive(Debug, Default)]
pub(crate) struct Contested {
    tables: HashMap<TableId, Flights, foldhash::fast::FixedState>,
    /// Grows with each call that begins to be watched, and with each change.
    clock: u64,
    /// Calls that are watched.
    in_flight: u32,
    /// A table of which no call is in flight any more; what the last one made is not told yet.
    idle: Option<TableId>,
    /// When a call ended last that moved a cursor, and nobody knows which.
    blurred: u64,
    ending: Ending,
}

/// The call that ends.
#[derive(Debug, Default)]
struct Ending {
    /// Its number.
    call: u64,
    /// The number that it gives to something else.
    replaced: Option<i32>,
    /// A number that it closes of which it is certain what that stood for.
    closes: Option<i32>,
}

/// The calls in flight of those who share a table.
#[derive(Debug, Default)]
struct Flights {
    calls: u32,
    /// The numbers of those of them that may make descriptors.
    makers: Vec<u64>,
    /// Those that close ranges.
    closing_many: u32,
    numbers: HashMap<i32, Number, foldhash::fast::FixedState>,
}

/// The calls in flight on a number, and what happened to it meanwhile.
#[derive(Debug, Default)]
struct Number {
    watches: Vec<Watch>,
    history: History,
}

impl Number {
    /// What a call in flight closes, which may still be there.
    fn being_closed(&self) -> Option<DescriptionId> {
        let mut closing = self.watches.iter().rev().filter(|watch| watch.is_closing());
        closing.find(|watch| watch.is_any || watch.stood_for.is_some())?.stood_for
    }

    /// Whether a call in flight closes it, and nobody can say what it stood for.
    fn closes_any(&self) -> bool {
        self.watches.iter().any(|watch| watch.is_closing() && watch.is_any)
    }

    /// Whether a call in flight may still close it: one on it, or one of `many` that close ranges.
    fn may_be_closed(&self, many: u32) -> bool {
        many > 0 || self.watches.iter().any(Watch::is_closing)
    }

    fn is_being_replaced(&self) -> bool {
        self.is_replaced_beside(None)
    }

    /// Whether a call in flight other than `own` replaces it.
    fn is_replaced_beside(&self, own: Option<u64>) -> bool {
        self.watches.iter().any(|watch| watch.how == How::Replaces && Some(watch.call) != own)
    }

    /// Whether of the calls in flight none but the one that freed it before it was given closes it; `many` close ranges.
    fn is_freed_at_most(&self, many: u32) -> bool {
        let mut closing = self.watches.iter().filter(|watch| watch.is_closing());
        many == 0 && closing.next().is_none_or(Watch::has_freed) && closing.next().is_none()
    }

    /// The watch of the call that ended if it is known to have closed what the number stood for before it was given again.
    fn has_closed(&self, ended: &Ended) -> Option<&Watch> {
        let mut watches = self.watches.iter().filter(|_| !ended.is_bad);
        watches.find(|watch| watch.done && Some(watch.call) == ended.call)
    }
}

impl Flights {
    /// That a number was found which somebody in flight made.
    fn unseen(&self, fd: i32, at: u64) -> Unseen {
        let is_replaced = self.numbers.get(&fd).is_some_and(Number::is_being_replaced);
        Unseen { at, is_sure: self.makers.len() == 1 && !is_replaced }
    }
}

impl Contested {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.in_flight == 0
    }

    /// Whether a call in flight may make a descriptor in a table.
    pub(crate) fn is_making(&self, table: TableId) -> bool {
        self.tables.get(&table).is_some_and(|flights| !flights.makers.is_empty())
    }

    /// A call begins; `stands_for` tells what a descriptor stands for before it, and whether it may be anything or nothing.
    pub(crate) fn begins(
        &mut self,
        table: TableId,
        numbers: &Numbers,
        stands_for: impl Fn(i32) -> Option<(DescriptionId, bool)>,
    ) -> Watched {
        let idle = self.idle.take();
        self.forget(idle);
        let call = self.tick();
        self.in_flight += 1;
        let flights = self.tables.entry(table).or_default();
        flights.calls += 1;
        flights.makers.extend(numbers.makes.then_some(call));
        flights.closing_many += u32::from(numbers.closes_many);
        let how = if numbers.closes { How::Closes } else { How::Uses };
        let used = numbers.used().map(|fd| (fd, how));
        let closes_many = numbers.closes_many;
        let mut watched = Watched { call, table, closes_many, has_closed: false, numbers: [None; MOST] };
        let mut places = watched.numbers.iter_mut();
        for (fd, how) in numbers.replaced.map(|fd| (fd, How::Replaces)).into_iter().chain(used) {
            let Some(place) = places.next() else { break };
            *place = Some(fd);
            let number = flights.numbers.entry(fd).or_default();
            number.watches.push(match stands_for(fd) {
                Some((description, false)) => Watch::new(call, how, Some(description)),
                Some((_, true)) => Watch { is_any: true, is_unsure: true, ..Watch::new(call, how, None) },
                None => {
                    let is_any = number.closes_any();
                    Watch { is_unsure: true, is_any, ..Watch::new(call, how, number.being_closed()) }
                }
            });
        }
        watched
    }

    /// A call is over.
    pub(crate) fn ends(&mut self, watched: &mut Watched) {
        self.in_flight = self.in_flight.saturating_sub(1);
        let Some(flights) = self.tables.get_mut(&watched.table) else { return };
        flights.calls = flights.calls.saturating_sub(1);
        flights.makers.retain(|maker| *maker != watched.call);
        flights.closing_many = flights.closing_many.saturating_sub(u32::from(watched.closes_many));
        for fd in watched.numbers.into_iter().flatten() {
            let Some(number) = flights.numbers.get_mut(&fd) else { continue };
            let mut own = number.watches.iter().filter(|watch| watch.call == watched.call);
            watched.has_closed |= own.any(|watch| watch.done);
            number.watches.retain(|watch| watch.call != watched.call);
        }
        if flights.calls == 0 {
            let idle = self.idle.replace(watched.table).filter(|idle| *idle != watched.table);
            self.forget(idle);
        }
    }

    /// It is told what a call in flight made, and that this was all.
    pub(crate) fn has_made(&mut self, watched: &Watched) {
        if let Some(flights) = self.tables.get_mut(&watched.table) {
            flights.makers.retain(|maker| *maker != watched.call);
        }
    }

    /// Forgets a table, unless calls are in flight again.
    fn forget(&mut self, idle: Option<TableId>) {
        if let Some(table) = idle
            && self.tables.get(&table).is_some_and(|flights| flights.calls == 0)
        {
            self.tables.remove(&table);
        }
    }

    /// The time by the clock of calls in flight.
    pub(crate) const fn now(&self) -> u64 {
        self.clock
    }

    /// Numbers of a table that others changed after `since`, or may be changing, and what they stood for if they are only being closed.
    pub(crate) fn in_flux(&self, table: TableId, since: Option<u64>) -> Vec<(i32, Option<DescriptionId>)> {
        let Some(flights) = self.tables.get(&table) else { return Vec::new() };
        let changed = |number: &Number| {
            let History { given, closed, .. } = number.history;
            number.is_being_replaced() || since.is_some_and(|since| given.max(closed) > since)
        };
        let all = flights.numbers.iter().filter_map(|(fd, number)| {
            match (changed(number), number.may_be_closed(flights.closing_many)) {
                (true, _) => Some((*fd, None)),
                // It may be given again already.
                (false, true) => Some((*fd, number.being_closed().filter(|_| flights.makers.is_empty()))),
                (false, false) => None,
            }
        });
        all.collect()
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    /// The calls in flight on all numbers of a table.
    fn watches(&self, table: TableId) -> impl Iterator<Item = &Watch> {
        let numbers = self.tables.get(&table).map(|flights| flights.numbers.values());
        numbers.into_iter().flatten().flat_map(|number| &number.watches)
    }

    fn number(&self, table: TableId, fd: i32) -> Option<&Number> {
        self.tables.get(&table)?.numbers.get(&fd)
    }

    /// A descriptor stands for something else. Whether a call in flight may act on that already.
    pub(crate) fn stands_for(&mut self, table: TableId, fd: i32, description: DescriptionId) -> bool {
        let given = self.tick();
        let Ending { call: giver, replaced, .. } = self.ending;
        let Some(flights) = self.tables.get_mut(&table) else { return false };
        let number = flights.numbers.entry(fd).or_default();
        let gift = match replaced == Some(fd) {
            true => Gift::Replaced,
            false if number.may_be_closed(flights.closing_many) => Gift::Closing,
            false => Gift::Free,
        };
        number.history.gives(given, giver, gift);
        number.watches.iter_mut().for_each(|watch| watch.comes(description));
        number.watches.iter().any(|watch| watch.how == How::Uses && watch.changed)
    }

    /// A number was found free that stood for something: the call in flight that closes it is done, if there is one that can have.
    pub(crate) fn frees(&mut self, table: TableId, fd: i32) {
        let now = self.tick();
        let Some(flights) = self.tables.get_mut(&table).filter(|flights| flights.closing_many == 0) else {
            return;
        };
        let Some(number) = flights.numbers.get_mut(&fd) else { return };
        let is_replaced = number.is_being_replaced();
        let mut may_have = number.watches.iter_mut().filter(|watch| watch.is_closing());
        if let (Some(watch), None) = (may_have.next(), may_have.next()) {
            watch.frees(is_replaced);
            if watch.done {
                number.history.may_be_closed(now, !watch.is_unsure);
            }
        }
    }

    /// It did for a while, and nobody can say when.
    pub(crate) fn stood_for(&mut self, table: TableId, fd: i32, description: DescriptionId) {
        let Some(number) = self.tables.get_mut(&table).and_then(|flights| flights.numbers.get_mut(&fd))
        else {
            return;
        };
        number.watches.iter_mut().for_each(|watch| watch.may_come(description));
    }

    /// A call closes a descriptor.
    pub(crate) fn closes(&mut self, table: TableId, fd: i32) {
        let closed = self.tick();
        let is_sure = self.ending.closes.take() == Some(fd);
        let Some(flights) = self.tables.get_mut(&table) else { return };
        let number = flights.numbers.entry(fd).or_default();
        number.history.closes(closed, is_sure);
        number.watches.iter_mut().for_each(Watch::closes);
    }

    /// A call used a descriptor that nobody has told of: a call in flight may have made it.
    pub(crate) fn found(&mut self, table: TableId, fd: i32) {
        let at = self.tick();
        if let Some(flights) = self.tables.get_mut(&table).filter(|flights| !flights.makers.is_empty()) {
            let found = flights.unseen(fd, at);
            flights.numbers.entry(fd).or_default().history.found = found;
        }
    }

    /// A call closed a descriptor that nobody has told of: a call in flight may have made it. If the descriptor was there at `since`,
    /// or perhaps not, calls that began later may have made it, and those before.
    pub(crate) fn closed_unseen(
        &mut self,
        table: TableId,
        ClosedUnseen { fd, since, is_sure }: ClosedUnseen,
    ) {
        let now = self.tick();
        if let Some(flights) = self.tables.get_mut(&table).filter(|flights| !flights.makers.is_empty()) {
            let made_later = since.is_some_and(|since| flights.makers.iter().any(|maker| *maker > since));
            let at = since.filter(|_| !made_later).unwrap_or(now);
            let is_sure = is_sure && !made_later && flights.unseen(fd, at).is_sure;
            flights.numbers.entry(fd).or_default().history.unseen = Unseen { at, is_sure };
        }
    }

    /// What became of a number that the call `watched` made, which is over.
    pub(crate) fn fate(&self, watched: &Watched, fd: i32) -> Fate {
        let Some(flights) = self.tables.get(&watched.table) else { return Fate::Stands };
        let Some(number) = flights.numbers.get(&fd) else { return Fate::Stands };
        number.history.fate(watched.call, number.may_be_closed(flights.closing_many))
    }

    /// Whether a look at a number shows what it is told to stand for, or what the call that is over made: nobody else can have changed it
    /// since that began, nor can a call in flight.
    pub(crate) fn is_steady(&self, table: TableId, fd: i32, look: Look) -> bool {
        let Some(flights) = self.tables.get(&table) else { return true };
        let others_make = flights.makers.iter().any(|maker| Some(*maker) != look.call);
        let Some(number) = flights.numbers.get(&fd) else { return flights.closing_many == 0 || !others_make };
        let History { given, closed, unseen, .. } = number.history;
        let since = look.call.unwrap_or(self.clock);
        let closing = match look.is_new {
            true => !number.is_freed_at_most(flights.closing_many),
            false => closed > since || number.may_be_closed(flights.closing_many),
        };
        given.max(unseen.at) <= since && !number.is_replaced_beside(look.call) && !(closing && others_make)
    }

    /// A call moved a cursor, and nobody knows which.
    pub(crate) fn blurs(&mut self) {
        self.blurred = self.tick();
    }

    /// Whether others may have moved the cursor behind the number that the call `watched` made before it was told to be over.
    pub(crate) fn may_be_moved(&self, watched: &Watched, fd: i32) -> bool {
        let found = self.number(watched.table, fd).map_or(0, |number| number.history.found.at);
        found.max(self.blurred) > watched.call
    }

    /// A call closes the descriptors of a range.
    pub(crate) fn closes_range(&mut self, table: TableId, range: &RangeInclusive<i64>) {
        let closed = self.tick();
        let numbers = self.tables.get_mut(&table).map(|flights| &mut flights.numbers);
        for (fd, number) in numbers.into_iter().flatten() {
            if range.contains(&i64::from(*fd)) {
                number.history.closes(closed, false);
                number.watches.iter_mut().for_each(Watch::closes);
            }
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
        let call = watched.map(|watched| watched.call);
        // A call that was not seen to begin did so after all that was told before.
        self.ending = Ending { call: call.unwrap_or(self.clock), replaced: numbers.replaced, closes: None };
        let closed = self.tick();
        let Some(flights) = self.tables.get_mut(&table) else { return Unclear::default() };
        let others = flights.makers.iter().copied().filter(|maker| Some(*maker) != call);
        let first_maker = others.min();
        let ended =
            Ended { call, closes: numbers.closes, is_bad: outcome == Outcome::BadDescriptor, first_maker };
        let mut unclear = Unclear::default();
        for fd in numbers.used() {
            let Some(number) = flights.numbers.get(&fd) else { continue };
            let closing = number.has_closed(&ended);
            let is_sure = closing.is_some_and(|watch| !watch.is_unsure);
            unclear.has_closed |= numbers.closes && closing.is_some();
            let mut own = number.watches.iter().filter(|watch| Some(watch.call) == call);
            unclear.was_known |= own.any(|watch| watch.stood_for.is_some() || watch.is_any);
            let given = number.history.given;
            if !is_sure && number.watches.iter().any(|watch| watch.hides(&ended, given)) {
                unclear.numbers.push(fd);
            }
        }
        if let Some((fd, number)) = numbers
            .replaced
            .filter(|_| !ended.is_bad)
            .and_then(|fd| Some((fd, flights.numbers.get_mut(&fd)?)))
        {
            let twice = number.watches.iter().any(|watch| watch.replaces_beside(call));
            unclear.replaced = Some(fd).filter(|_| twice);
            number.watches.iter_mut().for_each(|watch| watch.is_replaced_by(call));
        }
        for fd in numbers.used().filter(|_| numbers.closes && !ended.is_bad) {
            let number = flights.numbers.entry(fd).or_default();
            // A close may have had its effect up to now.
            if number.has_closed(&ended).is_none() {
                let mut own = number.watches.iter().filter(|watch| Some(watch.call) == call);
                let is_sure = own.any(Watch::has_freed) && !unclear.numbers.contains(&fd);
                self.ending.closes = Some(fd).filter(|_| is_sure);
                number.history.may_be_closed(closed, is_sure);
                number.watches.iter_mut().for_each(|watch| watch.closed = true);
            }
        }
        unclear
    }

    /// Whether a call in flight acts on a descriptor, of that table or of all, of which nobody can say what it stands for.
    pub(crate) fn may_act_on_any(&self, table: Option<TableId>) -> bool {
        let may = |watch: &Watch| watch.how == How::Uses && (watch.changed || watch.is_unsure);
        match table {
            Some(table) => self.watches(table).any(may),
            None => self.tables.keys().any(|table| self.watches(*table).any(may)),
        }
    }

    /// Whether a call in flight closes a number, and nobody can say what that stood for.
    pub(crate) fn closes_any(&self, table: TableId, fd: i32) -> bool {
        self.number(table, fd).is_some_and(Number::closes_any)
    }

    /// Whether a call in flight may still close a number.
    pub(crate) fn may_be_closed(&self, table: TableId, fd: i32) -> bool {
        let flights = self.tables.get(&table);
        flights.is_some_and(|flights| {
            let many = flights.closing_many;
            many > 0 || flights.numbers.get(&fd).is_some_and(|number| number.may_be_closed(many))
        })
    }

    /// What a number stood for that a call in flight closes, which may still be there.
    pub(crate) fn being_closed(&self, table: TableId, fd: i32) -> Option<DescriptionId> {
        self.number(table, fd)?.being_closed()
    }

    /// What the calls in flight close that began while it was there, and what they use, of which the number may be gone by now.
    pub(crate) fn all_in_flight(&self, table: TableId) -> Vec<DescriptionId> {
        let is_there = |watch: &&Watch| watch.how == How::Uses || watch.is_closing() && !watch.is_unsure;
        self.watches(table).filter(is_there).filter_map(|watch| watch.stood_for).collect()
    }
}

/// What others changed while a call was in flight.
#[derive(Debug, Default)]
pub(crate) struct Unclear {
    /// The descriptors of which nobody can say what they stood for.
    pub(crate) numbers: Vec<i32>,
    /// The number that another call let stand for something else as well, so that nobody can say which of the two was first.
    pub(crate) replaced: Option<i32>,
    /// What it closed, though nobody told that it was open.
    pub(crate) closed_unseen: Option<ClosedUnseen>,
    /// A descriptor of the call stood for something when it began, or while it was in flight.
    pub(crate) was_known: bool,
    /// Whether it closed something before its number was given again, which stays.
    pub(crate) has_closed: bool,
    /// The numbers that it made, or others that it returned, of which the tracer may have looked at what came later.
    pub(crate) unsteady: Vec<i32>,
}

/// A number that was closed, though nobody told that it was open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClosedUnseen {
    pub(crate) fd: i32,
    /// When the call began, if the number was found open then.
    pub(crate) since: Option<u64>,
    /// Whether it was that which was closed, and not what was known to be there.
    pub(crate) is_sure: bool,
}

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// `EBADF`.
    BadDescriptor,
    /// Anything else.
    Other,
}
