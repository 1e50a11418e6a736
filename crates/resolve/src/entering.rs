//! A call is announced: it was entered, and something else is seen before it returns.

use crate::contested::Numbers;
use crate::descriptor_tables::Description;
use crate::effect::Effect;
use crate::ids::{DescriptionId, TableId};
use crate::namespace::Content;
use crate::operands::Operands;
use crate::process_table::{Entered, ThreadId};
use crate::sockets;
use crate::state::State;
use iotrail_model::calls::{self, CallKind, CallSpec, DescriptorEffect, Transfer};
use iotrail_model::raw::RawCall;
use iotrail_model::{CaseId, Dictionaries, FileId};

impl State {
    pub(crate) fn enter(
        &mut self,
        case: CaseId,
        id: ThreadId,
        seq: Option<u64>,
        call: &RawCall<'_>,
        names: &mut Dictionaries,
    ) {
        self.leave(id);
        self.look_from(id, names);
        let seq = (case, seq.unwrap_or_else(|| self.cases.next_seq(case)));
        let effect = self.effects.of(call.call);
        self.take_turn(case, id, call);
        self.descriptors.holds.learn(self.effects.holds(call.call));
        let spec = calls::spec(call.call);
        let operands = Operands::of(spec, call);
        let table = self.processes.thread(id).table;
        let mut numbers = self.descriptors.is_shared(table).then(|| Numbers::of(&operands, effect));
        let mapped = self.spaces.touched(self.processes.thread(id).space, effect, spec, call);
        let description = self.acted_on(table, &operands, effect, false, names);
        let description = description.or_else(|| self.being_closed(table, &operands, effect));
        let description = description.or(mapped.map(|mapped| mapped.description));
        if let Some(numbers) = numbers.as_mut() {
            numbers.may_make(self.may_receive(spec, description, names));
        }
        let transfers = spec.is_some_and(|spec| spec.transfer != Transfer::None);
        let target = operands.fd2.filter(|_| spec.is_some_and(|spec| spec.transfer == Transfer::Copy));
        let target = target.and_then(|fd| self.description_of(table, fd, false, names));
        // What another thread does to the number meanwhile may act on its copy.
        let replaces = numbers.as_ref().is_some_and(Numbers::replaces);
        let moves = transfers || effect == Effect::Seek || replaces;
        let uses_any = self.uses_any(table, &operands) && self.moves_cursors(call);
        if uses_any {
            self.descriptors.blur(table);
        }
        let moves_any = uses_any && self.descriptors.has_others(table);
        self.descriptors.moving_any += u64::from(moves_any);
        match (effect, operands.fd) {
            (Effect::Spawn, _) => self.creation_begins(id, call, &operands),
            (Effect::Close, Some((fd, _))) => self.descriptors.close(table, fd),
            (Effect::Unmap, _) => self.spaces.unmap_by_call(self.processes.thread(id).space, spec, call),
            (Effect::ExitGroup, _) => self.exit_group(case, id, &operands, call.start),
            (Effect::Rename | Effect::ChangeRoot, _) => self.descriptors.renames += 1,
            _ => {}
        }
        let removes = self.removed_by(id, spec, &operands, names);
        if let Some(file) = removes {
            self.file_names.namespace.goes(file, true);
        }
        let known = operands.fd.map(|(fd, _)| fd).zip(description);
        let watched = numbers.map(|numbers| self.descriptors.watch(table, &numbers, known));
        let offset = mapped.map(|mapped| mapped.offset).into();
        let moves_before = [description, target].map(|id| id.map_or(0, |id| self.descriptors.moves(id)));
        let entered = Entered {
            call: call.call,
            start: call.start,
            description,
            target,
            offset,
            moves,
            moves_before,
            seq,
            watched,
            moves_any,
            removes,
        };
        for description in entered.descriptions().filter(|_| moves) {
            self.descriptors.description_mut(description).in_flight += 1;
        }
        self.processes.thread_mut(id).entered = Some(entered);
    }

    /// Whether a call may get descriptors with a message.
    fn may_receive(
        &self,
        spec: Option<&CallSpec>,
        socket: Option<DescriptionId>,
        names: &Dictionaries,
    ) -> bool {
        spec.is_some_and(|spec| spec.descriptor_effect() == DescriptorEffect::Receives)
            && socket.is_none_or(|socket| {
                let Description { protocol, path, .. } = *self.descriptors.description(socket);
                let name = path.get().map_or(&b""[..], |path| names.paths.get(path.0));
                sockets::carries_descriptors(protocol, name)
            })
    }

    /// The file that loses a name if the call succeeds: that of the name which is removed, or given to another file.
    fn removed_by(
        &mut self,
        id: ThreadId,
        spec: Option<&CallSpec>,
        operands: &Operands<'_>,
        names: &mut Dictionaries,
    ) -> Option<FileId> {
        let name = match spec?.kind {
            CallKind::Unlink => operands.path?,
            CallKind::Rename => operands.path2?,
            _ => return None,
        };
        let path = self.locate(id, name, false, names).path;
        let walked = self.file_names.reach(path, false, names)?;
        match self.file_names.namespace.content(walked.node) {
            Content::File(file) => Some(file),
            _ => None,
        }
    }

    /// What the descriptor of a call stands for, or stood for by the name that the tracer found: another thread may be closing it.
    pub(crate) fn acted_on(
        &mut self,
        table: TableId,
        operands: &Operands<'_>,
        effect: Effect,
        exists: bool,
        names: &mut Dictionaries,
    ) -> Option<DescriptionId> {
        let (fd, hint) = operands.fd?;
        let closing = self.being_closed(table, operands, effect).filter(|id| {
            let path = self.descriptors.description(*id).path.get();
            self.descriptors.get(table, fd).is_none()
                && path.zip(hint).is_some_and(|(path, hint)| names.paths.get(path.0) == hint.name)
        });
        closing.or_else(|| self.description_of(table, (fd, hint), exists, names))
    }

    /// What a call is about whose descriptor is being closed by another thread, if it succeeds.
    pub(crate) fn being_closed(
        &self,
        table: TableId,
        operands: &Operands<'_>,
        effect: Effect,
    ) -> Option<DescriptionId> {
        let (fd, _) = operands.fd.filter(|_| effect != Effect::Close)?;
        self.descriptors.contested.being_closed(table, fd)
    }

    pub(crate) fn take_turn(&mut self, case: CaseId, id: ThreadId, call: &RawCall<'_>) {
        if self.effects.is_turn(call.call) {
            let pid = self.processes.process(self.processes.thread(id).process).pid;
            self.cases.runs(case, pid);
        }
    }
}
