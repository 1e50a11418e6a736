//! Calls on descriptors of which nobody can tell what they stand for: the trace says so
//! ([`iotrail_model::raw::RawItem::Uncertain`]), or another thread changed them while the call was in flight
//! ([`crate::contested`]).
//!
//! While such a call is replayed, its descriptors stand for something of which nothing is known. So a copy of one, or a child
//! that inherits it, has something unknown as well. Afterwards they stand for what they did before: later calls may be certain.

use crate::Sink;
use crate::contested::{ClosedUnseen, Look, Numbers, Outcome, Unclear};
use crate::context::Context;
use crate::descriptor_tables::{Description, DescriptionId, DescriptorTables, TableId};
use crate::effect::Effect;
use crate::file_names::intern;
use crate::operands::Operands;
use crate::process_table::{Entered, ThreadId};
use crate::sockets;
use crate::state::State;
use crate::symbols::is_command;
use iotrail_model::calls::{self, Transfer};
use iotrail_model::raw::{Arg, RawCall, Return};
use iotrail_model::{CaseId, Dictionaries, Nullable, PathId};

/// A descriptor that stands for something unknown for a while.
struct Hidden {
    fd: i32,
    before: Option<(DescriptionId, bool)>,
    meanwhile: DescriptionId,
}

impl DescriptorTables {
    fn hide(&mut self, table: TableId, fd: i32) -> Hidden {
        let before = self.get_marked(table, fd);
        let meanwhile = self.unknown(table);
        self.know(table, fd, meanwhile, before.is_some_and(|(_, cloexec)| cloexec));
        Hidden { fd, before, meanwhile }
    }

    /// Nobody can say what a descriptor stands for, until it stands for something else.
    pub(crate) fn stands_for_any(&mut self, table: TableId, fd: i32) {
        self.gives_up(table, fd);
        let unknown = self.unknown(table);
        self.know(table, fd, unknown, false);
    }

    /// A copy of a table that a call makes which began at `since`, by the clock of calls in flight. What others change meanwhile may or
    /// may not be in it.
    pub(crate) fn copy_meanwhile(&mut self, table: TableId, since: Option<u64>) -> TableId {
        self.meets_kin(table);
        let copy = self.copy(table);
        for (fd, stood_for) in self.contested.in_flux(table, since) {
            match stood_for.filter(|_| self.get(table, fd).is_none()) {
                Some(description) => self.know(copy, fd, description, false),
                None => self.stands_for_any(copy, fd),
            }
        }
        if self.contested.is_making(table) {
            self.becomes_unclear(copy);
        }
        copy
    }

    /// The table for an owner who wants it alone, by a call that began at `since`: itself, or a copy.
    pub(crate) fn unshare_meanwhile(&mut self, table: TableId, since: Option<u64>) -> TableId {
        if !self.is_shared(table) {
            return table;
        }
        let own = self.copy_meanwhile(table, since);
        self.release(table);
        own
    }

    /// A call moved the cursor of something that a table names, and nobody knows which.
    pub(crate) fn blur(&mut self, table: TableId) {
        match self.has_kin(table) {
            true => self.lose_all(),
            false => {
                self.lose(table, false);
                self.former(table).into_iter().for_each(|id| self.set_cursor(id, Nullable::NULL));
            }
        }
        let in_flight = self.contested.all_in_flight(table);
        in_flight.into_iter().for_each(|id| self.set_cursor(id, Nullable::NULL));
        self.contested.blurs();
    }

    /// A call changed how writes go to something that a table names, and nobody knows which.
    fn blur_modes(&mut self, table: TableId) {
        for id in self.candidates(table) {
            self.description_mut(id).append = None;
        }
    }

    /// A call connected a socket that a table names, and nobody knows which: one that had a peer may have another one.
    fn blur_peers(&mut self, table: TableId, is_trace: bool, names: &mut Dictionaries) {
        for id in self.candidates(table) {
            self.loses_peer(id, is_trace, names);
        }
    }

    /// A socket that had a peer has none, or another one; what it is called now, if its name told the peer. The tracer of a trace may
    /// go on to tell that.
    pub(crate) fn loses_peer(
        &mut self,
        id: DescriptionId,
        is_trace: bool,
        names: &mut Dictionaries,
    ) -> Option<PathId> {
        let before = self.description(id).path.get()?;
        let name = sockets::without_peer(names.paths.get(before.0))?;
        let name = intern(names, &name);
        let description = self.description_mut(id);
        description.path = Nullable::some(name);
        description.outdated = Some(before).filter(|_| is_trace).into();
        Some(name)
    }

    /// What a descriptor of a table may stand for of which nobody can say what that is.
    fn candidates(&self, table: TableId) -> Vec<DescriptionId> {
        /// Of more, the others are left as they are, so that a call costs no more than others.
        const MOST: usize = 4096;
        let of_table = || self.descriptions_of(table).chain(self.former(table));
        let known: Vec<DescriptionId> = match self.has_kin(table) {
            true => self.with_descriptors().take(MOST).collect(),
            false => of_table().take(MOST).collect(),
        };
        [known, self.contested.all_in_flight(table)].concat()
    }

    /// Something of which nobody can say what it is.
    fn unknown(&mut self, table: TableId) -> DescriptionId {
        let unknown = self.describe(Description::unseen(Nullable::NULL));
        self.may_be_any(table, unknown);
        unknown
    }

    /// Nobody can say whether a description is one that others have a descriptor for.
    pub(crate) fn may_be_any(&mut self, table: TableId, id: DescriptionId) {
        self.becomes_unclear(table);
        self.description_mut(id).any = true;
        self.has_no_number(id);
    }

    /// Unless the call has changed it.
    fn show(&mut self, table: TableId, hidden: &Hidden) {
        if self.get(table, hidden.fd) != Some(hidden.meanwhile) {
            return;
        }
        match hidden.before {
            Some((description, cloexec)) => self.know(table, hidden.fd, description, cloexec),
            None => self.know_free(table, hidden.fd),
        }
    }
}

impl State {
    /// Whether it has to be looked at whether the descriptors of a call are certain.
    #[inline]
    pub(crate) fn may_be_uncertain(&self) -> bool {
        !self.uncertain.is_empty() || !self.descriptors.contested.is_empty() || self.descriptors.has_unclear
    }

    /// The same of a call that begins.
    #[inline]
    pub(crate) fn may_begin_uncertain(&self) -> bool {
        !self.uncertain.is_empty() || !self.descriptors.contested.is_empty()
    }

    /// A call returned of which [`Self::may_be_uncertain`].
    pub(crate) fn uncertain_call<S: Sink>(
        &mut self,
        case: CaseId,
        thread: ThreadId,
        seq: Option<u64>,
        call: &RawCall<'_>,
        cx: &mut Context<'_, S>,
    ) {
        let unclear = self.unclear(thread, call);
        let (table, mut hidden) = self.hide_uncertain(thread, call);
        hidden.extend(unclear.numbers.iter().map(|fd| self.descriptors.hide(table, *fd)));
        self.tally.uncertain_calls += u64::from(!hidden.is_empty());
        let uses_any = || {
            let is_unclear = self.descriptors.is_unclear(table);
            is_unclear && self.uses_any(table, &Operands::of(calls::spec(call.call), call))
        };
        let is_any = !hidden.is_empty() || uses_any();
        self.probes.forget(call.tid, &unclear.unsteady);
        // What the tracer printed of them may be of something else.
        let nameless = [&unclear.numbers[..], &unclear.unsteady].concat();
        call.without_names(&nameless, |call| self.call(case, thread, seq, call, cx));
        self.show_hidden(thread, call, table, &hidden);
        if is_any {
            self.changes_any(table, call, cx.names);
        }
        if let Some(closed) = unclear.closed_unseen {
            self.descriptors.contested.closed_unseen(table, closed);
        }
        // Whether it closed what there was or what came is not known.
        let closes = matches!((self.effects.of(call.call), call.ret), (Effect::Close, Return::Value(0.., _)));
        let closed = unclear.numbers.iter().copied().filter(|_| closes && !unclear.has_closed);
        for fd in closed.chain(unclear.replaced) {
            self.descriptors.stands_for_any(table, fd);
        }
    }

    /// The same of a call that was entered.
    pub(crate) fn enter_uncertain(
        &mut self,
        case: CaseId,
        thread: ThreadId,
        seq: Option<u64>,
        call: &RawCall<'_>,
        names: &mut Dictionaries,
    ) {
        let unsteady = self.unsteady(thread, call);
        let (table, hidden) = self.hide_uncertain(thread, call);
        call.without_names(&unsteady, |call| self.enter(case, thread, seq, call, names));
        self.show_hidden(thread, call, table, &hidden);
    }

    /// The descriptors of a call that begins which other calls in flight change: the tracer may have looked before or after.
    fn unsteady(&self, id: ThreadId, call: &RawCall<'_>) -> Vec<i32> {
        let contested = &self.descriptors.contested;
        if contested.is_empty() {
            return Vec::new();
        }
        let table = self.processes.thread(id).table;
        let operands = Operands::of(calls::spec(call.call), call);
        let used = Numbers::of(&operands, self.effects.of(call.call)).used();
        used.filter(|fd| !contested.is_steady(table, *fd, Look::BETWEEN_CALLS)).collect()
    }

    /// What a call changes that acted on something of which nobody can say what it is.
    fn changes_any(&mut self, table: TableId, call: &RawCall<'_>, names: &mut Dictionaries) {
        if self.moves_cursors(call) {
            self.descriptors.blur(table);
        }
        let flags = Operands::of(calls::spec(call.call), call).flags;
        match self.effects.of(call.call) {
            Effect::Fcntl if is_command(flags[0], b"F_SETFL", 4) => self.descriptors.blur_modes(table),
            Effect::Connect => {
                let is_trace = self.source.is_trace;
                self.descriptors.blur_peers(table, is_trace, names);
            }
            _ => {}
        }
    }

    /// A call that was entered is over.
    pub(crate) fn unwatch(&mut self, entered: &mut Entered) {
        if let Some(watched) = &mut entered.watched {
            self.descriptors.contested.ends(watched);
        }
        if std::mem::take(&mut entered.moves_any) {
            self.descriptors.moving_any -= 1;
        }
        if let Some(file) = entered.removes.take() {
            self.file_names.namespace.goes(file, false);
        }
    }

    /// What others changed while a call was in flight that is over now. It is forgotten what it was taken to be about.
    fn unclear(&mut self, id: ThreadId, call: &RawCall<'_>) -> Unclear {
        let (effect, spec) = (self.effects.of(call.call), calls::spec(call.call));
        if self.descriptors.contested.is_empty() || self.effects.is_request(call.call) {
            return Unclear::default();
        }
        let operands = Operands::of(spec, call);
        let table = self.processes.thread(id).table;
        let numbers = Numbers::of(&operands, effect);
        let outcome = match call.ret {
            Return::Failed(b"EBADF") => Outcome::BadDescriptor,
            _ => Outcome::Other,
        };
        let watched = self.processes.thread_mut(id).being_in(call).and_then(|entered| entered.watched);
        let look = Look { call: watched.map(|watched| watched.call), is_new: numbers.makes() };
        let contested = &mut self.descriptors.contested;
        let made = made(call).filter(|_| numbers.makes() || numbers.replaces());
        let unsteady: Vec<i32> = made.filter(|fd| !contested.is_steady(table, *fd, look)).collect();
        let unclear = contested.unclear(table, &numbers, watched, outcome);
        let mut unclear = Unclear { unsteady, ..unclear };
        if let (Effect::Close, Some((fd, _)), Return::Value(0.., _)) = (effect, operands.fd, call.ret) {
            let begun = self.processes.thread_mut(id).being_in(call).and_then(|entered| entered.description);
            let closed = begun.or_else(|| self.descriptors.get(table, fd));
            let is_unseen = closed.is_none_or(|id| self.descriptors.description(id).any);
            let since = begun.and(watched).map(|watched| watched.call);
            unclear.closed_unseen = match unclear.numbers.contains(&fd) {
                _ if unclear.has_closed => None,
                true => Some(ClosedUnseen { fd, since: None, is_sure: false }),
                false => is_unseen.then_some(ClosedUnseen {
                    fd,
                    since,
                    is_sure: closed.is_none() && !unclear.was_known,
                }),
            };
        }
        if !unclear.numbers.is_empty() {
            self.forget_what(id, call, &operands, &unclear.numbers);
        }
        unclear
    }

    /// Whether a descriptor of a call may be a copy of any other.
    pub(crate) fn uses_any(&self, table: TableId, operands: &Operands<'_>) -> bool {
        let fds =
            [operands.fd, operands.fd2].into_iter().flatten().filter(|_| self.descriptors.is_unclear(table));
        fds.map(|(fd, _)| (fd, self.descriptors.get(table, fd))).any(|(fd, known)| match known {
            Some(id) => self.descriptors.description(id).any,
            // A call of another process may have made it before the table was copied.
            None => self.descriptors.has_kin(table) || self.descriptors.contested.closes_any(table, fd),
        })
    }

    pub(crate) fn moves_cursors(&mut self, call: &RawCall<'_>) -> bool {
        let transfers = calls::spec(call.call).is_some_and(|spec| spec.transfer != Transfer::None);
        transfers || matches!(self.effects.of(call.call), Effect::Seek | Effect::List)
    }

    fn forget_what(&mut self, id: ThreadId, call: &RawCall<'_>, operands: &Operands<'_>, unclear: &[i32]) {
        let is_unclear =
            [operands.fd, operands.fd2].map(|fd| fd.is_some_and(|(fd, _)| unclear.contains(&fd)));
        let thread = self.processes.thread_mut(id);
        let mut moved = Vec::new();
        if let Some(entered) = thread.being_in(call) {
            for (place, unclear) in
                [&mut entered.description, &mut entered.target].into_iter().zip(is_unclear)
            {
                if let Some(description) = place.take_if(|_| unclear)
                    && entered.moves
                {
                    moved.push(description);
                }
            }
        }
        for description in moved {
            let in_flight = &mut self.descriptors.description_mut(description).in_flight;
            *in_flight = in_flight.saturating_sub(1);
            self.descriptors.set_cursor(description, Nullable::NULL);
        }
    }

    fn hide_uncertain(&mut self, thread: ThreadId, call: &RawCall<'_>) -> (TableId, Vec<Hidden>) {
        let table = self.processes.thread(thread).table;
        let of_call: Vec<i32> =
            self.uncertain.extract_if(.., |(tid, _)| *tid == call.tid).map(|(_, fd)| fd).collect();
        (table, of_call.into_iter().map(|fd| self.descriptors.hide(table, fd)).collect())
    }

    /// A thread that is gone, or that has another table since, needs nothing back.
    fn show_hidden(&mut self, thread: ThreadId, call: &RawCall<'_>, table: TableId, hidden: &[Hidden]) {
        if self.processes.find(call.tid) == Some(thread) && self.processes.thread(thread).table == table {
            hidden.iter().for_each(|hidden| self.descriptors.show(table, hidden));
        }
    }
}

/// The descriptors that a call made, if it makes any.
fn made(call: &RawCall<'_>) -> impl Iterator<Item = i32> {
    let returned = match call.ret {
        Return::Value(fd, _) => i32::try_from(fd).ok(),
        _ => None,
    };
    let pairs = call.args.iter().filter_map(|arg| match arg {
        Arg::FdPair(pair) => Some(pair.map(|(fd, _)| fd)),
        _ => None,
    });
    returned.into_iter().chain(pairs.flatten())
}
