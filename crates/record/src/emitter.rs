//! Emits raw items to the resolver, in the order in which they were seen.
//!
//! A call that returned is told when it returns. One that another thread's item overtakes is announced before that.

use crate::filter::Filter;
use crate::proc::there;
use crate::store::Store;
use crate::threads::{InFlight, Threads};
use iotrail_model::raw::{Arg, RawItem, Return, Target};
use iotrail_model::{CallId, CaseId, Dictionaries, FileFacts, Nanos, Tid};
use iotrail_resolve::Resolver;

/// A dictionary of paths larger than this is made anew from the paths that are still needed.
const LARGE: usize = 32 << 20;

/// Open file descriptions that a received descriptor is compared with.
const MAX_HOLDERS: usize = 64;

/// No call has more arguments.
const MAX_ARGUMENTS: usize = 6;

/// The resolver with what it needs.
#[derive(Debug)]
pub(crate) struct Emitter<'s, S> {
    resolver: Resolver,
    names: Dictionaries,
    pub(crate) filter: Filter<'s, S>,
    /// Bytes of the dictionary of paths at which it is made anew.
    large: usize,
    /// The thread in a call of which the resolver does not know yet.
    unannounced: Option<Tid>,
    /// Calls that never returned.
    pub(crate) unfinished: u64,
    /// Calls that were interrupted and restarted.
    pub(crate) interrupted: u64,
}

impl<'s, S: Store> Emitter<'s, S> {
    pub(crate) fn new(filter: Filter<'s, S>) -> Self {
        Self {
            resolver: Resolver::new(),
            names: Dictionaries::default(),
            filter,
            large: LARGE,
            unannounced: None,
            unfinished: 0,
            interrupted: 0,
        }
    }

    #[inline]
    pub(crate) fn item(&mut self, item: &RawItem<'_>) {
        self.resolver.item(CaseId(0), item, &mut self.names, &mut self.filter);
    }

    /// The number of a function of a library.
    pub(crate) fn number_of(&mut self, function: &str) -> CallId {
        CallId(self.names.calls.intern(function.as_bytes()))
    }

    /// Announces the call that another thread is in, before `tid` has something to say.
    #[inline]
    pub(crate) fn overtakes(&mut self, tid: Tid, threads: &mut Threads) {
        match self.unannounced {
            Some(other) if other != tid => self.announce(other, threads),
            _ => {}
        }
    }

    /// Announces the call that a thread is in.
    #[cold]
    pub(crate) fn announce(&mut self, tid: Tid, threads: &mut Threads) {
        if let Some(call) = threads.get_mut(tid).and_then(|thread| thread.call.as_mut()) {
            self.entered(tid, call);
        }
        self.has_none_to_announce(tid);
    }

    /// A thread entered a call, which is announced when something else happens before it returns.
    #[inline]
    pub(crate) fn may_announce(&mut self, tid: Tid) {
        self.unannounced = Some(tid);
    }

    /// A thread is in no call any more of which the resolver does not know.
    #[inline]
    pub(crate) fn has_none_to_announce(&mut self, tid: Tid) {
        if self.unannounced == Some(tid) {
            self.unannounced = None;
        }
    }

    /// A thread goes on under another id.
    pub(crate) fn renamed(&mut self, former: Tid, tid: Tid) {
        if self.unannounced == Some(former) {
            self.unannounced = Some(tid);
        }
    }

    /// A call is under way while something else happens.
    fn entered(&mut self, tid: Tid, call: &mut InFlight) {
        if !std::mem::replace(&mut call.announced, true) {
            let view = call.entry.view(&mut self.names);
            let call = view.entered(tid, call.start);
            self.resolver.item(CaseId(0), &RawItem::Entered(call), &mut self.names, &mut self.filter);
        }
    }

    /// A call returned; `found` are descriptors that it made or connected, with names that no call gave them.
    #[inline]
    pub(crate) fn returned(&mut self, tid: Tid, call: &InFlight, dur: Nanos, found: &[(i32, Target<'_>)]) {
        self.over(tid, call, Some(dur), found);
    }

    /// The end of a call will never be seen.
    pub(crate) fn unseen(&mut self, tid: Tid, call: &InFlight) {
        self.unfinished += u64::from(!call.never_returns());
        self.over(tid, call, None, &[]);
    }

    fn over(&mut self, tid: Tid, call: &InFlight, dur: Option<Nanos>, found: &[(i32, Target<'_>)]) {
        let view = call.entry.view(&mut self.names);
        let mut call = view.returned(tid, call.start, dur);
        let mut args = [Arg::Opaque; MAX_ARGUMENTS];
        if !found.is_empty() && call.args.len() <= MAX_ARGUMENTS {
            let args = &mut args[..call.args.len()];
            args.copy_from_slice(call.args);
            call.ret = name_return(call.ret, found);
            args.iter_mut().for_each(|arg| name_argument(arg, found));
            call.args = args;
        }
        self.resolver.item(CaseId(0), &RawItem::Call(call), &mut self.names, &mut self.filter);
        if self.names.paths.memory() > self.large {
            self.rotate();
        }
    }

    /// A signal interrupted a call, which keeps its place in the order until it is known what becomes of it.
    pub(crate) fn suspended(&mut self, tid: Tid, call: &mut InFlight) {
        self.entered(tid, call);
        self.item(&RawItem::Suspended { tid, at: call.start });
    }

    /// A call had no effect and is made again.
    pub(crate) fn restarted(&mut self, tid: Tid, call: &InFlight) {
        self.interrupted += 1;
        if call.announced {
            self.item(&RawItem::Interrupted { tid, at: call.start });
        }
    }

    /// Whether it is known what a descriptor refers to.
    #[inline]
    pub(crate) fn knows(&self, tid: Tid, fd: i32) -> bool {
        self.resolver.knows(tid, fd)
    }

    /// Whether a look at a descriptor of a thread that has made a call shows what that acted on, or, if it `is_new`, made.
    pub(crate) fn is_steady(&self, tid: Tid, fd: i32, is_new: bool) -> bool {
        self.resolver.is_steady(tid, fd, is_new)
    }

    /// The name of what a descriptor refers to.
    pub(crate) fn path_of(&self, tid: Tid, fd: i32) -> Option<&[u8]> {
        self.resolver.path_of(tid, fd).map(|path| self.names.paths.get(path.0))
    }

    /// Whether it is not known where a descriptor stands, but a look would tell.
    #[inline]
    pub(crate) fn has_lost(&self, tid: Tid, fd: i32) -> bool {
        self.resolver.has_lost(tid, fd)
    }

    /// Device and inode of what a descriptor refers to.
    pub(crate) fn inode_of(&self, tid: Tid, fd: i32) -> Option<(u64, u64)> {
        self.resolver.inode_of(tid, fd)
    }

    /// The open descriptors that stand for a file, one for each open file description.
    pub(crate) fn holders(&self, facts: &FileFacts) -> Vec<(Tid, i32)> {
        self.resolver.holders(facts.device, facts.inode, MAX_HOLDERS)
    }

    /// Nothing more will happen.
    pub(crate) fn finish(&mut self) {
        self.resolver.look_again(there, &mut self.names, &mut self.filter);
        self.resolver.finish(&mut self.names, &mut self.filter);
    }

    /// Events whose paths are relative to an unknown directory.
    pub(crate) fn relative_paths(&self) -> u64 {
        self.resolver.summary().relative_paths
    }

    /// How often a file was mapped.
    pub(crate) fn file_mappings(&self) -> u64 {
        self.resolver.summary().file_mappings
    }

    /// Calls on descriptors that another thread changed meanwhile.
    pub(crate) fn uncertain_calls(&self) -> u64 {
        self.resolver.summary().uncertain_calls
    }

    /// Names that are unknown because there were too many long ones.
    pub(crate) fn long_names(&self) -> u64 {
        self.resolver.summary().long_names
    }

    /// Whether two processes made calls in turns.
    pub(crate) fn interleaved(&self) -> bool {
        self.resolver.summary().cases.iter().any(|case| case.interleaved)
    }

    fn rotate(&mut self) {
        self.resolver.rotate(&mut self.names);
        self.filter.rotated();
        // What is still needed may itself be large.
        self.large = LARGE.max(2 * self.names.paths.memory());
    }
}

fn name_of<'a>(fd: i32, found: &[(i32, Target<'a>)]) -> Option<Target<'a>> {
    found.iter().find(|(other, _)| *other == fd).map(|(_, target)| *target)
}

/// The return value, with the name of the descriptor that it is.
fn name_return<'a>(ret: Return<'a>, found: &[(i32, Target<'a>)]) -> Return<'a> {
    match ret {
        Return::Value(value, None) => Return::Value(value, name_of(value as i32, found)),
        other => other,
    }
}

/// Names a descriptor that a call was given, or two that it stored.
fn name_argument<'a>(arg: &mut Arg<'a>, found: &[(i32, Target<'a>)]) {
    let name = |fd: i32, target: &mut Option<Target<'a>>| *target = target.or_else(|| name_of(fd, found));
    match arg {
        Arg::Fd(fd, target) => name(*fd, target),
        Arg::FdPair(pair) => pair.iter_mut().for_each(|(fd, target)| name(*fd, target)),
        _ => {}
    }
}
