//! What names of files mean by now, and what becomes of them.

use crate::Sink;
use crate::context::Context;
use crate::namespace::{Content, Crossed, Namespace, Walked};
use crate::node::Node;
use crate::operands::Operands;
use crate::paths;
use crate::renamed::Renamed;
use crate::source::Source;
use crate::symbols;
use foldhash::fast::RandomState;
use hashbrown::HashSet;
use iotrail_model::{Dictionaries, Event, FileFacts, FileId, FileKind, NamedFile, Nullable, PathId};

/// A longer name is none that the kernel takes or tells. Directories can lie deeper, by way of relative names.
pub(crate) const LONG: usize = 4096;
/// Bytes that such names may take together: each step down makes all names below longer.
const LONG_NAMES: usize = 16 << 20;

/// How many names in renamed directories may still be told. Each event adds some, so that hostile renames cost no more than
/// other calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Credit(pub(crate) usize);

impl Default for Credit {
    fn default() -> Self {
        Self(1 << 16)
    }
}

impl Credit {
    #[inline]
    pub(crate) fn earn(&mut self) {
        self.0 = self.0.saturating_add(16);
    }
}

/// The names of files, and those of the call that is looked at which mean something else.
#[derive(Debug, Default)]
pub(crate) struct FileNames {
    source: Source,
    pub(crate) namespace: Namespace,
    /// Paths of the call that is looked at which do not denote what is meant, as their directory is not known or was removed;
    /// and their file, if they are that directory itself.
    pub(crate) lost: Vec<(PathId, Nullable<FileId>)>,
    /// Paths of the call that is looked at which begin in a directory over which something was mounted since: how they go on.
    pub(crate) covered: Vec<(PathId, Node, Box<[u8]>)>,
    /// Names that a tracer showed of files that have lost them.
    pub(crate) lost_names: Vec<(PathId, FileId)>,
    pub(crate) credit: Credit,
    /// Files that were opened to be written.
    pub(crate) written: HashSet<FileId, RandomState>,
    /// Bytes of the long names that are known.
    long_names_bytes: usize,
}

pub(crate) fn intern(names: &mut Dictionaries, path: &[u8]) -> PathId {
    PathId(names.paths.intern(path))
}

impl FileNames {
    pub(crate) fn new(source: Source) -> Self {
        Self { source, ..Self::default() }
    }

    /// Where an absolute path leads.
    pub(crate) fn reach(
        &mut self,
        path: Nullable<PathId>,
        follow: bool,
        names: &Dictionaries,
    ) -> Option<Walked> {
        let id = path.get()?;
        let text = names.paths.get(id.0);
        if text.first() != Some(&b'/') { None } else { self.reach_by_name(id, text, follow) }
    }

    fn reach_by_name(&mut self, id: PathId, text: &[u8], follow: bool) -> Option<Walked> {
        match self.covered.iter().find(|(covered, _, _)| *covered == id) {
            Some((_, directory, rest)) => self.namespace.reach_below(*directory, rest, follow),
            None => self.namespace.reach(id, text, follow),
        }
    }

    /// Where a path leads that is an argument of a call; a relative one is seen from where the trace began.
    pub(crate) fn reach_given(
        &mut self,
        path: Nullable<PathId>,
        follow: bool,
        names: &Dictionaries,
    ) -> Option<Walked> {
        let id = path.get()?;
        let text = names.paths.get(id.0);
        match text.first() {
            _ if self.lost_file(path).is_some() => None,
            // What stands behind a number is no matter of names.
            _ if follow && self.source.is_trace && paths::descriptor_link(text).is_some() => None,
            Some(b'/') => self.reach_by_name(id, text, follow),
            Some(_) if self.source.is_trace => self.namespace.reach(id, text, follow),
            _ => None,
        }
    }

    /// As [`Self::reach_given`] of a name that the call makes, moves or removes; it gets the name that it really has.
    pub(crate) fn reach_name(
        &mut self,
        path: &mut Nullable<PathId>,
        names: &mut Dictionaries,
    ) -> Option<Walked> {
        let walked = self.reach_given(*path, false, names)?;
        if let Some(link) = &walked.link {
            *path = Nullable::some(intern(names, &link.path));
        }
        Some(walked)
    }

    /// The file that a name denotes of which it is certain that it denotes one.
    pub(crate) fn there(&mut self, node: Node, names: &mut Dictionaries) -> Nullable<FileId> {
        match self.namespace.content(node) {
            Content::File(file) | Content::Nameless(file) => Nullable::some(file),
            Content::Unknown if self.namespace.forgot() => Nullable::NULL,
            Content::Unknown | Content::Nothing => self.make_file(node, names),
        }
    }

    /// A new file of that name.
    pub(crate) fn make_file(&mut self, node: Node, names: &mut Dictionaries) -> Nullable<FileId> {
        let file = names.next_file();
        if let Some(file) = file.get() {
            self.namespace.set(node, Content::File(file));
        }
        file
    }

    /// A file that the call made under that name.
    pub(crate) fn make_new(&mut self, node: Node, names: &mut Dictionaries) -> Nullable<FileId> {
        let file = self.make_file(node, names);
        if let Some(file) = file.get() {
            self.namespace.set_made(file);
        }
        file
    }

    /// What a name denoted up to now has lost it.
    pub(crate) fn lose<S: Sink>(&mut self, path: Nullable<PathId>, node: Node, cx: &mut Context<'_, S>) {
        if let Content::File(file) = self.namespace.content(node) {
            self.namespace.set(node, Content::Nothing);
            if !self.namespace.hides(node, file) {
                self.emit_name(path, Nullable::some(file), true, cx);
            }
        }
    }

    /// Tells how long the files are by now that were opened to be written, as `look` finds them under their names; under each of several.
    pub(crate) fn look_again<S: Sink>(
        &mut self,
        look: impl Fn(&[u8]) -> Option<FileFacts>,
        cx: &mut Context<'_, S>,
    ) {
        let written = std::mem::take(&mut self.written);
        let mut names = self.namespace.names_of(&written);
        names.sort_unstable();
        for names in names.chunk_by(|(one, _), (other, _)| one == other) {
            let (file, path) = &names[0];
            let Some(known) = self.namespace.facts(*file) else { continue };
            let same = |found: &FileFacts| {
                (found.device, found.inode, found.birth) == (known.device, known.inode, known.birth)
            };
            let size = look(path).filter(same).and_then(|found| found.size);
            if size.is_none() || size == known.size && names.len() == 1 {
                continue;
            }
            self.namespace.learn(*file, &FileFacts { size, ..known });
            for (file, path) in names {
                let path = Nullable::some(intern(cx.names, path));
                self.emit_name(path, Nullable::some(*file), false, cx);
            }
        }
    }

    /// Tells that a file has a name or has lost it.
    pub(crate) fn emit_name<S: Sink>(
        &self,
        path: Nullable<PathId>,
        file: Nullable<FileId>,
        gone: bool,
        cx: &mut Context<'_, S>,
    ) {
        let (Some(path), Some(number)) = (path.get(), file.get()) else { return };
        let kind = self.namespace.kind(number);
        let facts = self.namespace.facts(number);
        let facts = facts.map(|facts| FileFacts { kind: facts.kind.or(kind), ..facts });
        cx.sink.file(
            path,
            &NamedFile { file, gone, facts, kind: kind.filter(|_| facts.is_none()) },
            cx.names,
        );
    }

    /// The files below a directory that gets another name.
    pub(crate) fn below(&mut self, node: Node) -> Vec<(Vec<u8>, FileId)> {
        let (found, seen) = self.namespace.below(node, self.credit.0);
        self.credit.0 -= seen;
        found
    }

    /// Tells of files below a directory of that path that they have, or have lost, these names.
    fn emit_names_below<S: Sink>(
        &self,
        files: &[(Vec<u8>, FileId)],
        directory: PathId,
        gone: bool,
        cx: &mut Context<'_, S>,
    ) {
        for (name, file) in files {
            let path = [cx.names.paths.get(directory.0), name].concat();
            let path = Nullable::some(intern(cx.names, &path));
            self.emit_name(path, Nullable::some(*file), gone, cx);
        }
    }

    pub(crate) fn makes<S: Sink>(&mut self, event: &mut Event, cx: &mut Context<'_, S>) -> Nullable<FileId> {
        let Some(walked) = self.reach_given(event.path, false, cx.names) else { return Nullable::NULL };
        self.note_link(event, event.path, walked.link.as_ref(), cx.names);
        self.lose(event.path, walked.node, cx);
        self.make_new(walked.node, cx.names)
    }

    pub(crate) fn renames<S: Sink>(
        &mut self,
        event: &mut Event,
        operands: &Operands<'_>,
        renamed: &mut Renamed,
        cx: &mut Context<'_, S>,
    ) {
        let (Some(from), Some(to)) =
            (self.reach_name(&mut event.path, cx.names), self.reach_name(&mut event.path2, cx.names))
        else {
            return;
        };
        event.file = self.there(from.node, cx.names);
        let present = Nullable::from(self.namespace.content(to.node));
        let (Some(old), Some(new)) = (event.path.get(), event.path2.get()) else { return };
        if operands.has(symbols::RENAME_EXCHANGE) {
            event.file2 = self.there(to.node, cx.names);
            // To exchange two names of one file changes nothing.
            if from.node == to.node || !event.file.is_null() && event.file == event.file2 {
                return;
            }
            let (below_old, below_new) = (self.below(from.node), self.below(to.node));
            self.namespace.exchange(cx.names.paths.get(old.0), cx.names.paths.get(new.0));
            // By way of a name that no path has.
            for (from, to, file) in [
                (cx.names.paths.get(old.0), &b"\0"[..], event.file),
                (cx.names.paths.get(new.0), cx.names.paths.get(old.0), event.file2),
                (b"\0", cx.names.paths.get(new.0), event.file),
            ] {
                renamed.note(from, to, file);
            }
            self.emit_names_below(&below_old, old, true, cx);
            self.emit_names_below(&below_new, new, true, cx);
            self.emit_names_below(&below_old, new, false, cx);
            self.emit_names_below(&below_new, old, false, cx);
            for (path, file, gone) in [
                (event.path, event.file, true),
                (event.path2, event.file2, true),
                (event.path, event.file2, false),
                (event.path2, event.file, false),
            ] {
                self.emit_name(path, file, gone, cx);
            }
            return;
        }
        event.file2 = event.file;
        // Two names of one file both stay.
        if from.node == to.node || !event.file.is_null() && event.file == present {
            return;
        }
        let below = self.below(from.node);
        match self.covered.is_empty() {
            true => self.namespace.rename(cx.names.paths.get(old.0), cx.names.paths.get(new.0)),
            false => self.namespace.give_name(from.node, to.node),
        }
        renamed.note(cx.names.paths.get(old.0), cx.names.paths.get(new.0), event.file);
        self.emit_names_below(&below, old, true, cx);
        self.emit_names_below(&below, new, false, cx);
        self.emit_name(event.path2, present, true, cx);
        self.emit_name(event.path, event.file, true, cx);
        self.emit_name(event.path2, event.file, false, cx);
        if operands.has(symbols::RENAME_WHITEOUT) {
            self.leave_whiteout(event.path, cx);
        }
    }

    /// Where a file was lies the device now that hides what a lower layer of an overlay has there.
    fn leave_whiteout<S: Sink>(&mut self, path: Nullable<PathId>, cx: &mut Context<'_, S>) {
        let Some(walked) = self.reach_given(path, false, cx.names) else { return };
        let file = self.make_new(walked.node, cx.names);
        if let Some(file) = file.get() {
            self.namespace.set_kind(file, FileKind::Char);
        }
        self.emit_name(path, file, false, cx);
    }

    /// Whether nobody looked at a file yet, and `found` may be it: the trace did not make it, or did so before that was seen.
    pub(crate) fn is_unseen(&self, file: FileId, found: FileId) -> bool {
        (!self.namespace.is_made(file) || file < found) && self.namespace.facts(file).is_none()
    }

    /// Whether a file does not have that name, as far as is known.
    pub(crate) fn is_gone(&mut self, path: PathId, file: Nullable<FileId>, names: &Dictionaries) -> bool {
        let Some(walked) = self.reach(Nullable::some(path), false, names) else { return false };
        match self.namespace.content(walked.node) {
            Content::Unknown => false,
            Content::Nothing | Content::Nameless(_) => true,
            Content::File(present) => Nullable::some(present) != file,
        }
    }

    /// Whether a file that had that name has it no more: it may have others.
    pub(crate) fn has_lost(&mut self, path: PathId, file: FileId, names: &Dictionaries) -> bool {
        !self.namespace.has_names(file) || self.is_gone(path, Nullable::some(file), names)
    }

    /// Whether another file was found than the one that should be there.
    pub(crate) fn is_other(&self, present: Content, facts: &FileFacts) -> bool {
        let Content::File(file) = present else { return false };
        let known = self.namespace.facts(file);
        known.is_some_and(|known| (known.device, known.inode) != (facts.device, facts.inode))
    }

    /// Whether a file without a name was known before the trace made another one.
    pub(crate) fn is_older(&self, known: FileId, made: FileId) -> bool {
        self.namespace.is_made(made) && known < made && !self.namespace.has_names(known)
    }

    /// Whether a path denotes a file, as far as is known.
    pub(crate) fn is_called(&mut self, file: FileId, path: PathId, names: &Dictionaries) -> bool {
        let walked = self.reach(Nullable::some(path), false, names);
        let content = walked.map(|walked| self.namespace.content(walked.node));
        content.is_none_or(|content| content == Content::File(file)) || self.namespace.forgot()
    }

    /// Tells that a file has lost a name, unless it got that again: a tracer says how a descriptor was opened.
    pub(crate) fn emit_lost_name<S: Sink>(&mut self, path: PathId, file: FileId, cx: &mut Context<'_, S>) {
        let walked = self.reach(Nullable::some(path), false, cx.names);
        if walked.is_none_or(|walked| self.namespace.content(walked.node) != Content::File(file)) {
            self.emit_name(Nullable::some(path), Nullable::some(file), true, cx);
        }
    }

    /// A file is made in the directory `given`, whatever symbolic links lead there.
    pub(crate) fn follow_directory(
        &mut self,
        event: &mut Event,
        given: Nullable<PathId>,
        names: &mut Dictionaries,
    ) {
        if let Some(walked) = self.reach_given(given, true, names) {
            self.note_link(event, given, walked.link.as_ref(), names);
        }
    }

    /// A path that led through a symbolic link is where that led to, and names the link as its second path.
    pub(crate) fn note_link(
        &mut self,
        event: &mut Event,
        path: Nullable<PathId>,
        link: Option<&Crossed>,
        names: &mut Dictionaries,
    ) {
        let (Some(path), Some(link)) = (path.get(), link) else { return };
        if event.path2.is_null() {
            let name = names.paths.get(path.0)[..link.length].to_vec();
            event.path2 = Nullable::some(intern(names, &name));
            event.file2 = Nullable::some(link.file);
        }
        if event.path == Nullable::some(path) {
            event.path = Nullable::some(intern(names, &link.path));
        }
    }

    /// The file, if it is known, of a path of the call that is looked at which does not denote what is meant.
    pub(crate) fn lost_file(&self, path: Nullable<PathId>) -> Option<Nullable<FileId>> {
        let path = path.get()?;
        self.lost.iter().find(|(lost, _)| *lost == path).map(|(_, file)| *file)
    }

    /// Whether a trace showed that a directory was removed.
    pub(crate) fn is_removed(&self, file: Nullable<FileId>) -> bool {
        self.source.is_trace && file.get().is_some_and(|file| self.namespace.is_removed(file))
    }

    /// The number of a directory in which a process works.
    pub(crate) fn directory_at(&mut self, path: PathId, names: &mut Dictionaries) -> Nullable<FileId> {
        if !self.source.is_trace {
            return Nullable::NULL;
        }
        match self.reach(Nullable::some(path), false, names) {
            Some(walked) => self.there(walked.node, names),
            None => Nullable::NULL,
        }
    }

    /// The file of a description that the tracer calls by another name than before.
    pub(crate) fn renamed_file(
        &mut self,
        file: Nullable<FileId>,
        path: Nullable<PathId>,
        deleted: bool,
        names: &Dictionaries,
    ) -> Nullable<FileId> {
        if deleted {
            return file;
        }
        let Some(walked) = self.reach(path, false, names) else { return Nullable::NULL };
        match (self.namespace.content(walked.node), file.get()) {
            (Content::File(present), _) => Nullable::some(present),
            (_, Some(known)) => {
                self.namespace.set(walked.node, Content::File(known));
                file
            }
            (_, None) => file,
        }
    }

    /// The id of the name that was joined. None if it is one of too many long ones: then nobody can say what it is.
    pub(crate) fn intern_joined(
        &mut self,
        name: &[u8],
        given: usize,
        names: &mut Dictionaries,
    ) -> Option<PathId> {
        if name.len() > LONG.max(given) && names.paths.find(name).is_none() {
            if self.long_names_bytes + name.len() > LONG_NAMES {
                return None;
            }
            self.long_names_bytes += name.len();
        }
        Some(intern(names, name))
    }
}
