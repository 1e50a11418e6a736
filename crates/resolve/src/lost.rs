//! Calls that could not be read, wholly or in part: what they may have changed is unknown from there on.
//!
//! A line that was cut, or the second half of a call whose first half is missing, may have moved a cursor. If it says which
//! descriptor, that one is unknown, else those of its thread, until a call tells a position again.

use crate::descriptor_tables::{Description, TableId};
use crate::effect::Effect;
use crate::operands::{FdArg, Operands};
use crate::process_table::ThreadId;
use crate::state::State;
use iotrail_model::calls::{self, ArgKind, DescriptorEffect, Transfer};
use iotrail_model::raw::{RawCall, Return};
use iotrail_model::{Dictionaries, Nullable};

impl State {
    /// What a thread did could not be read, but for the beginning of `call`, whose last argument may be cut.
    pub(crate) fn misses(&mut self, id: ThreadId, call: Option<&RawCall<'_>>, names: &mut Dictionaries) {
        self.gaps = true;
        self.processes.thread_mut(id).enclosing.clear();
        let Some(call) = call else {
            let table = self.processes.thread(id).table;
            return self.descriptors.lose(table, false);
        };
        let whole = &call.args[..call.args.len().saturating_sub(1)];
        self.may_have_done(id, &RawCall { args: whole, ..*call }, names);
    }

    /// Only the end of a call was seen.
    pub(crate) fn saw_no_arguments(&mut self, id: ThreadId, call: &RawCall<'_>, names: &mut Dictionaries) {
        let has_descriptor = |kind: &ArgKind| matches!(kind, ArgKind::Fd | ArgKind::Fd2);
        let effect = self.effects.of(call.call);
        let concerns = calls::spec(call.call).is_some_and(|spec| {
            let makes_process = effect == Effect::Spawn && !spec.args.is_empty();
            makes_process || effect == Effect::Open || spec.args.iter().any(has_descriptor)
        });
        let happened = match call.ret {
            Return::Unseen => true,
            Return::Value(value, _) => value >= 0,
            Return::Failed(_) | Return::Injected(..) => false,
        };
        if !(self.source.is_trace && call.args.is_empty() && concerns && happened) {
            return;
        }
        self.gaps = true;
        self.may_have_done(id, call, names);
        // What stood there before was closed unseen, or is replaced.
        if let (Effect::Dup, Return::Value(fd, _)) = (effect, call.ret)
            && let Ok(fd) = i32::try_from(fd)
        {
            let unseen = self.descriptors.describe(Description::unseen(Nullable::NULL));
            self.descriptors.set(self.processes.thread(id).table, fd, unseen, false);
        }
    }

    fn may_have_done(&mut self, id: ThreadId, call: &RawCall<'_>, names: &mut Dictionaries) {
        let table = self.processes.thread(id).table;
        let Some(spec) = calls::spec(call.call) else { return self.descriptors.lose(table, false) };
        let operands = Operands::of(Some(spec), call);
        let effect = self.effects.of(call.call);
        let moves = spec.transfer != Transfer::None || matches!(effect, Effect::Seek | Effect::List);
        match effect {
            Effect::Fcntl => self.lose_descriptor(table, operands.fd, true, names),
            // It is not known which number stands for something else now.
            Effect::Dup => self.descriptors.lose(table, false),
            Effect::Spawn if call.args.is_empty() => self.descriptors.meets_unknown_parent(),
            _ if moves => {
                self.lose_descriptor(table, operands.fd, false, names);
                if spec.transfer == Transfer::Copy {
                    self.lose_descriptor(table, operands.fd2, false, names);
                }
            }
            _ => {}
        }
        if spec.descriptor_effect() == DescriptorEffect::Sends {
            self.descriptors.distrust_all(table);
        }
    }

    /// The cursor of a descriptor, or of all if it is not known which, may have moved; if `modes`, it may append as well.
    fn lose_descriptor(
        &mut self,
        table: TableId,
        fd: Option<FdArg<'_>>,
        modes: bool,
        names: &mut Dictionaries,
    ) {
        let Some(fd) = fd else { return self.descriptors.lose(table, modes) };
        if let Some(description) = self.description_of(table, fd, false, names) {
            self.descriptors.set_cursor(description, Nullable::NULL);
            if modes {
                self.descriptors.description_mut(description).append = None;
            }
        }
    }
}
