//! What descriptors and path arguments mean.
//!
//! The tables say what the trace implies; what a tracer printed beside a number or a path is better informed (an opening
//! that is not in the trace, a descriptor received over a socket, a symbolic link) and corrects them. The path of a
//! descriptor follows renames ([`crate::renamed`]).

use crate::descriptor_tables::{Description, DescriptionId};
use crate::directories::Directory;
use crate::file_names::{LONG, intern};
use crate::namespace::Content;
use crate::node::Node;
use crate::operands::{Base, PathArg};
use crate::paths::{self, DirectoryLink, Owner};
use crate::process_table::ThreadId;
use crate::state::State;
use iotrail_model::raw::Target;
use iotrail_model::{Dictionaries, FileId, Nullable, PathId, Tid};

/// Where a path argument leads.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Location {
    /// The path, absolute or, if nothing better is known, relative.
    pub(crate) path: Nullable<PathId>,
    /// The descriptor, if the argument stands for it and not for a path.
    pub(crate) fd: Option<i32>,
    /// Whether the path stayed relative.
    pub(crate) relative: bool,
}

/// What a relative path is seen from.
#[derive(Clone, Copy, Debug, Default)]
struct Origin {
    path: Nullable<PathId>,
    file: Nullable<FileId>,
    /// Whether what its path denotes is not what is meant: it is not known where it is, or it was removed.
    lost: bool,
}

/// Somewhere.
const LOST: Origin = Origin { path: Nullable::NULL, file: Nullable::NULL, lost: true };

fn of_base(arg: Base<'_>, path: Nullable<PathId>) -> Location {
    let fd = match arg {
        Base::Fd((fd, _)) => Some(fd),
        Base::Cwd(_) | Base::Unknown => None,
    };
    Location { path, fd, relative: false }
}

impl State {
    /// The working directory of a thread, as it is known by now.
    fn working_directory(
        &mut self,
        id: ThreadId,
        hint: Option<Target<'_>>,
        names: &mut Dictionaries,
    ) -> Origin {
        let at = self.processes.thread(id).directory;
        if let Some(hint) = hint.filter(|hint| hint.name.first() == Some(&b'/')) {
            let known = self.directories.get(at);
            let is_known = known.path.get().is_some_and(|path| names.paths.get(path.0) == hint.name);
            if hint.deleted {
                let file = if is_known { known.file } else { Nullable::NULL };
                return Origin { path: Nullable::some(intern(names, hint.name)), file, lost: true };
            }
            if !is_known {
                let path = intern(names, hint.name);
                self.learn_directory(id, path, names);
            }
            let file = if is_known { known.file } else { Nullable::NULL };
            return Origin { path: self.directories.path(at), file, ..Origin::default() };
        }
        let Directory { path, file, moved, .. } = self.directories.get(at);
        let by_now = self.renamed(file, path, names);
        let lost = by_now.is_null() && (moved || !path.is_null()) || self.file_names.is_removed(file);
        Origin { path: by_now, file, lost }
    }

    /// The path of a directory: where it is by now, if a trace showed it being renamed; a recorder tells it.
    pub(crate) fn moved(
        &mut self,
        file: Nullable<FileId>,
        path: Nullable<PathId>,
        names: &mut Dictionaries,
    ) -> Nullable<PathId> {
        if self.source.is_trace { self.renamed(file, path, names) } else { path }
    }

    /// The path of a directory: where it is by now, if it was renamed. Unknown if that makes its name longer than the kernel takes.
    /// Where there are mounts a directory has several paths: it keeps one that still leads to it.
    fn renamed(
        &mut self,
        file: Nullable<FileId>,
        path: Nullable<PathId>,
        names: &mut Dictionaries,
    ) -> Nullable<PathId> {
        let file = file.get().filter(|_| self.descriptors.renames > 0);
        if let Some(file) = file.filter(|_| self.file_names.namespace.mounts.differ())
            && let Some(walked) = self.file_names.reach(path, true, names)
            && self.file_names.namespace.content(walked.node) == Content::File(file)
        {
            return path;
        }
        match file.and_then(|file| self.file_names.namespace.last_path_of(file)) {
            Some(by_now) if by_now.len() > LONG => names.paths.find(&by_now).map(PathId).into(),
            Some(by_now) => Nullable::some(intern(names, &by_now)),
            None => path,
        }
    }

    /// The trace says where a thread works. If it never moved, its image started there.
    pub(crate) fn learn_directory(&mut self, id: ThreadId, path: PathId, names: &mut Dictionaries) {
        let thread = self.processes.thread(id);
        let (process, directory) = (thread.process, thread.directory);
        let file = self.file_names.directory_at(path, names);
        if self.directories.learn(directory, path, file) {
            if self.source.is_trace {
                self.file_names.namespace.begins_at(names.paths.get(path.0));
            }
            let entry = self.processes.process_mut(process);
            entry.cwd = Nullable::some(entry.cwd.get().unwrap_or(path));
        }
    }

    /// The file behind a link of the kernel to a descriptor: `/proc/self/fd/3`, `/dev/fd/3`, `/dev/stdin`.
    pub(crate) fn behind_link(
        &mut self,
        id: ThreadId,
        path: PathId,
        names: &mut Dictionaries,
    ) -> Nullable<PathId> {
        let Some(description) = self.descriptor_behind(id, names.paths.get(path.0)) else {
            return Nullable::NULL;
        };
        self.path_of(description, names)
    }

    /// What an open file description is called by now, whatever other names its file has.
    fn path_of(&mut self, description: DescriptionId, names: &mut Dictionaries) -> Nullable<PathId> {
        self.follow_renames(description, names);
        self.descriptors.description(description).path
    }

    /// The directory that a link of the kernel on the way leads to, and how the path goes on from there.
    fn through_link<'a>(
        &mut self,
        id: ThreadId,
        path: &'a [u8],
        names: &mut Dictionaries,
    ) -> Option<(Origin, &'a [u8])> {
        let (owner, link, rest) = paths::directory_link(path)?;
        let owner = self.thread_of(id, owner)?;
        let origin = match link {
            DirectoryLink::WorkingDirectory => self.working_directory(owner, None, names),
            DirectoryLink::Root => {
                Origin { path: Nullable::some(self.own_path(owner, b"/", names)), ..Origin::default() }
            }
            DirectoryLink::Descriptor(fd) => {
                let table = self.processes.thread(owner).table;
                let description = self.description_of(table, (fd, None), false, names);
                description.map_or(LOST, |description| self.directory_behind(description, None, names))
            }
        };
        Some((origin, rest))
    }

    /// What the descriptor stands for that such a link leads to.
    pub(crate) fn descriptor_behind(&self, id: ThreadId, path: &[u8]) -> Option<DescriptionId> {
        let (owner, fd) = paths::descriptor_link(path)?;
        let owner = self.thread_of(id, owner)?;
        self.descriptors.get(self.processes.thread(owner).table, fd)
    }

    /// The thread whose links a thread sees there.
    fn thread_of(&self, id: ThreadId, owner: Owner) -> Option<ThreadId> {
        match owner {
            Owner::Caller => Some(id),
            Owner::Thread(tid) => self.processes.known(Tid(tid)),
            // A first thread that is gone has none.
            Owner::Process => {
                let process = self.processes.process(self.processes.thread(id).process);
                self.processes.known(Tid(process.pid.0)).or(Some(id))
            }
        }
    }

    /// Where a path argument leads. An empty path stands for its directory if `empty_is_base`.
    pub(crate) fn locate(
        &mut self,
        id: ThreadId,
        arg: PathArg<'_>,
        empty_is_base: bool,
        names: &mut Dictionaries,
    ) -> Location {
        if let (Some(path), true) = (arg.bytes, arg.located) {
            return Location { path: Nullable::some(intern(names, path)), ..Location::default() };
        }
        let is_base = arg.bytes.is_none_or(|path| path.is_empty() && empty_is_base);
        if let (Base::Fd(fd), true) = (arg.base, is_base) {
            return of_base(arg.base, self.path_behind(id, fd, names));
        }
        let base = match arg.base {
            Base::Cwd(hint) => self.working_directory(id, hint, names),
            Base::Fd(fd) => {
                let table = self.processes.thread(id).table;
                let description = self.description_of(table, fd, false, names);
                description.map_or(LOST, |description| self.directory_behind(description, fd.1, names))
            }
            Base::Unknown => LOST,
        };
        match arg.bytes {
            None | Some(b"") if is_base => of_base(arg.base, base.path),
            None | Some(b"") => Location::default(),
            Some(path) if arg.in_root => {
                let root = base.path.get().filter(|_| !base.lost);
                self.file_names.namespace.look_from(root.map(|root| names.paths.get(root.0)));
                self.join(base, &paths::within(path), names)
            }
            Some(path) => match self.through_link(id, path, names) {
                Some((base, rest)) => self.join(base, rest, names),
                None => match self.seen_from_root(id, base, path, names) {
                    Some((root, path)) => self.join(root, &path, names),
                    None => self.join(base, path, names),
                },
            },
        }
    }

    /// Where an absolute path leads that a thread itself was told of its place.
    pub(crate) fn own_path(&mut self, id: ThreadId, path: &[u8], names: &mut Dictionaries) -> PathId {
        let seen = self.seen_from_root(id, LOST, path, names);
        let joined = seen.and_then(|(root, path)| self.join(root, &path, names).path.get());
        joined.unwrap_or_else(|| intern(names, path))
    }

    /// The root directory that a thread was given, and how a path goes on from there that begins there, or may end there because it
    /// goes up from a directory below. `None` if the thread has the tracer's root, or the path is another one.
    fn seen_from_root(
        &self,
        id: ThreadId,
        base: Origin,
        path: &[u8],
        names: &Dictionaries,
    ) -> Option<(Origin, Vec<u8>)> {
        let root = self.directories.get(self.processes.thread(id).directory).root;
        let origin = Origin { path: root, ..Origin::default() };
        let root = names.paths.get(root.get()?.0);
        if path.starts_with(b"/") {
            return Some((origin, paths::within(path)));
        }
        let goes_up = path.split(|byte| *byte == b'/').any(|part| part == b"..");
        let base = base.path.get().filter(|_| goes_up && !base.lost)?;
        let below = names.paths.get(base.0).strip_prefix(root)?;
        let is_below = matches!(below, b"" | [b'/', ..]);
        is_below.then(|| (origin, paths::within(&[below, b"/", path].concat())))
    }

    /// Where a directory is that a descriptor stands for.
    fn directory_behind(
        &mut self,
        id: DescriptionId,
        hint: Option<Target<'_>>,
        names: &mut Dictionaries,
    ) -> Origin {
        let Description { path, file, detached, .. } = *self.descriptors.description(id);
        if let Some(hint) = hint {
            return Origin { path, file, lost: hint.deleted || detached };
        }
        let path = self.moved(file, path, names);
        let is_absolute = path.get().is_some_and(|path| names.paths.get(path.0).starts_with(b"/"));
        match is_absolute || !file.is_null() {
            true => {
                Origin { path, file, lost: path.is_null() || detached || self.file_names.is_removed(file) }
            }
            // A pipe is still what it is called, but no directory.
            false => Origin { path, ..LOST },
        }
    }

    /// What a descriptor stands for.
    fn path_behind(
        &mut self,
        id: ThreadId,
        fd: (i32, Option<Target<'_>>),
        names: &mut Dictionaries,
    ) -> Nullable<PathId> {
        let table = self.processes.thread(id).table;
        let description = self.description_of(table, fd, false, names);
        description.map_or(Nullable::NULL, |description| self.path_of(description, names))
    }

    /// What a symbolic link of that name points to.
    pub(crate) fn beside(
        &mut self,
        link: Nullable<PathId>,
        target: &[u8],
        names: &mut Dictionaries,
    ) -> Location {
        let directory = link.get().and_then(|link| {
            let directory = paths::parent(names.paths.get(link.0))?.to_vec();
            Some(intern(names, &directory))
        });
        let origin = Origin {
            path: directory.into(),
            file: Nullable::NULL,
            lost: self.file_names.lost_file(link).is_some(),
        };
        self.join(origin, target, names)
    }

    /// Whether `path` leads out of a directory that was removed, to one that is still there: the way up is never lost.
    fn leads_out(&mut self, directory: Option<&[u8]>, path: &[u8]) -> bool {
        let parts = path.split(|byte| *byte == b'/').filter(|part| !matches!(*part, b"" | b"."));
        let ups = parts.take_while(|part| *part == b"..").count();
        let mut above =
            std::iter::successors(directory, |directory| paths::parent(directory)).skip(1).take(ups);
        above.any(|above| !self.file_names.namespace.is_nothing(above))
    }

    /// The directory `base`, if something was mounted over it since: who is in it already sees what lies there.
    fn covered(&mut self, base: Origin, path: &[u8], names: &Dictionaries) -> Option<Node> {
        let is_relative = self.source.is_trace && path.first() != Some(&b'/');
        let file = base.file.get().filter(|_| is_relative)?;
        self.file_names.namespace.covered(names.paths.get(base.path.get()?.0), file)
    }

    /// `path` seen from the directory `base`.
    fn join(&mut self, base: Origin, path: &[u8], names: &mut Dictionaries) -> Location {
        let directory = base.path.get().map(|base| names.paths.get(base.0));
        let directory = directory.filter(|path| path.starts_with(b"/") || !base.file.is_null());
        let lost = base.lost && path.first() != Some(&b'/') && !self.leads_out(directory, path);
        let absolute = match lost {
            true => paths::join(directory, path, &mut self.scratch),
            false => self.file_names.namespace.join(directory, path, &mut self.scratch),
        };
        let Some(joined) = self.file_names.intern_joined(&self.scratch, path.len(), names) else {
            self.tally.long_names += 1;
            return Location::default();
        };
        if !lost && let Some(node) = self.covered(base, path, names) {
            self.file_names.covered.push((joined, node, path.into()));
        }
        if lost {
            let is_base = path.split(|byte| *byte == b'/').all(|part| matches!(part, b"" | b"."));
            self.file_names.lost.push((joined, if is_base { base.file } else { Nullable::NULL }));
        }
        Location { path: Nullable::some(joined), fd: None, relative: !absolute }
    }
}
