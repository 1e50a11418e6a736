//! What calls change: descriptors, directories, mounts, processes.

use crate::Sink;
use crate::context::Context;
use crate::directories::Directory;
use crate::effect::{Effect, O_CLOEXEC};
use crate::file_names::intern;
use crate::operands::{Operands, integer};
use crate::process_table::ThreadId;
use crate::scene::{Scene, cloexec_in};
use crate::sockets::Given;
use crate::state::State;
use crate::symbols::{self, is_command};
use iotrail_model::calls::CallKind;
use iotrail_model::raw::{Arg, Return};
use iotrail_model::{Dictionaries, Event, Nullable, PathId, Tid};

impl State {
    /// What a successful call changes.
    pub(crate) fn apply<S: Sink>(
        &mut self,
        event: &mut Event,
        scene: &Scene<'_>,
        effect: Effect,
        cx: &mut Context<'_, S>,
    ) {
        let Scene { thread, call, operands, description, .. } = *scene;
        match effect {
            Effect::None | Effect::Exit | Effect::ExitGroup => {}
            Effect::Open => self.open(event, scene, cx),
            Effect::Anonymous(kind) => self.make(event, scene, kind, cx.names),
            Effect::Accept => self.accept(event, scene, cx.names),
            Effect::Bind | Effect::OwnAddress => self.name_socket(event, scene, Given::Own, cx.names),
            Effect::Connect => self.name_socket(event, scene, Given::Peer, cx.names),
            Effect::Dup => {
                let cloexec = operands.flags[0].is_some_and(|flags| cloexec_in(flags, O_CLOEXEC));
                self.duplicate(event, scene, cloexec, cx.names);
            }
            Effect::Fcntl => self.control(event, scene, cx.names),
            Effect::Ioctl => self.control_device(thread, operands),
            Effect::Close => self.close(scene),
            Effect::CloseRange => self.close_range(scene),
            Effect::Seek => {
                if let (Some(description), Return::Value(position, _)) = (description, call.ret) {
                    let to = operands.stored.unwrap_or(position);
                    event.offset = self.descriptors.seek(description, &scene.step(false), Some(to));
                }
            }
            Effect::List => {
                if let Some(description) = description {
                    self.descriptors.has_no_positions(description);
                }
            }
            Effect::Rename => self.descriptors.renames += 1,
            Effect::Mount => {
                self.descriptors.renames += 1;
                self.mount(event, operands, cx.names);
            }
            Effect::Unmount => {
                self.descriptors.renames += 1;
                self.unmount(event, cx.names);
            }
            Effect::MountOtherwise => {
                self.descriptors.renames += 1;
                self.tally.unclear_mounts += 1;
                self.mount_tree(event, operands, cx.names);
            }
            Effect::Enter => {
                let is_mount = operands.flags[0].is_some_and(|flags| symbols::CLONE_NEWNS.is_in(flags));
                if operands.has(symbols::CLONE_NEWPID) {
                    self.parts_ids(thread);
                }
                if is_mount {
                    self.tally.unclear_mounts += 1;
                    self.sees_other_mounts(thread);
                }
            }
            Effect::Chdir => {
                let directory = self.processes.thread(thread).directory;
                let destination = self.destination(event, cx.names);
                self.directories.change(directory, destination);
            }
            Effect::Getcwd => {
                if let Some(path) = operands.text.filter(|path| path.starts_with(b"/")) {
                    let path = match operands.text_located {
                        true => intern(cx.names, path),
                        false => self.own_path(thread, path, cx.names),
                    };
                    event.path = Nullable::some(path);
                    self.learn_directory(thread, path, cx.names);
                }
            }
            Effect::ChangeRoot => {
                let is_known = |path: &PathId| cx.names.paths.get(path.0).starts_with(b"/");
                let is_chroot = scene.spec.is_some_and(|spec| spec.kind == CallKind::ChangeRoot);
                let root = event.path.get().filter(is_known).filter(|_| is_chroot);
                if !is_chroot && self.source.is_trace {
                    self.pivot(event, cx.names);
                }
                self.tally.changed_roots += u64::from(root.is_none());
                let directory = self.processes.thread(thread).directory;
                self.directories.set_root(directory, root.into());
                self.descriptors.renames += 1;
            }
            Effect::Spawn => {
                let child = scene.made().and_then(|(child, _)| u32::try_from(child).ok());
                let child = child.filter(|child| *child > 0).map(Tid);
                self.creation_ends(thread, call, operands, child, cx);
                if let Some(child) = child {
                    self.stores_pidfd(scene, child, cx.names);
                }
            }
            Effect::Exec => {
                self.new_image(scene, event.path, cx);
            }
            Effect::Unshare => self.unshare(scene),
            Effect::Map => {
                let space = self.processes.thread(thread).space;
                let maps = self.spaces.map_by_call(space, scene.spec, call, operands, description);
                let is_file = |path: &PathId| !cx.names.paths.get(path.0).starts_with(b"anon_inode:");
                self.tally.file_mappings +=
                    u64::from(maps && event.path.get().is_none_or(|path| is_file(&path)));
            }
            Effect::Unmap if scene.entered.is_none() => {
                self.spaces.unmap_by_call(self.processes.thread(thread).space, scene.spec, call);
            }
            Effect::Unmap | Effect::Touch => {}
            Effect::Remap => {
                let space = self.processes.thread(thread).space;
                self.spaces.remap_by_call(space, scene.spec, call, operands);
            }
            Effect::Submit => {
                if let Return::Value(requests, _) = call.ret {
                    self.tally.submitted += requests.unsigned_abs();
                }
            }
            Effect::Reap => {
                if let Some((child, _)) = scene.made()
                    && let Ok(child) = u32::try_from(child)
                {
                    self.reaped(thread, Tid(child), cx);
                }
            }
        }
    }

    /// Where a change of the working directory led.
    fn destination(&mut self, event: &Event, names: &mut Dictionaries) -> Directory {
        let path = self.moved(event.file, event.path, names);
        let relative = path.get().is_some_and(|path| !names.paths.get(path.0).starts_with(b"/"));
        // The file behind a relative path is known if it is known what that is relative to.
        let path = if relative && event.file.is_null() { Nullable::NULL } else { path };
        Directory { path, relative, file: event.file, ..Directory::default() }
    }

    /// What a call changes that failed or whose end was not seen.
    pub(crate) fn apply_otherwise<S: Sink>(
        &mut self,
        event: &mut Event,
        scene: &Scene<'_>,
        effect: Effect,
        cx: &mut Context<'_, S>,
    ) {
        let Scene { case, thread, call, operands, description, .. } = *scene;
        match (effect, call.ret, description) {
            (Effect::Seek, Return::Failed(b"ESPIPE"), Some(description)) => {
                self.descriptors.has_no_positions(description);
            }
            // What is neither a position of a file nor an error that there is: memory has positions that are negative numbers.
            (Effect::Seek, ret, Some(description)) if is_beyond(ret) => {
                event.offset = self.descriptors.seek(description, &scene.step(false), None);
                self.descriptors.set_cursor(description, Nullable::NULL);
            }
            (Effect::Seek, Return::Failed(_), Some(description)) => {
                event.offset = self.descriptors.seek(description, &scene.step(false), None);
            }
            (Effect::Seek, Return::Unseen, Some(description)) => {
                self.descriptors.seek(description, &scene.step(false), None);
            }
            // The descriptor is gone even if the kernel reports an error of the file below it.
            (Effect::Close, Return::Failed(error), _) if error != b"EBADF" => {
                self.close(scene);
            }
            // Announced, it was taken for closed.
            (Effect::Close, Return::Injected(..), Some(description)) => {
                let table = self.processes.thread(thread).table;
                if let Some((fd, _)) =
                    operands.fd.filter(|(fd, _)| self.descriptors.get(table, *fd).is_none())
                {
                    self.descriptors.set(table, fd, description, false);
                }
            }
            (Effect::Close, Return::Unseen, _) => self.close(scene),
            (Effect::Anonymous(_) | Effect::Accept, _, None) => self.name_second(event, scene, cx.names),
            (Effect::Connect, Return::Failed(b"EINPROGRESS"), _) => {
                self.name_socket(event, scene, Given::Peer, cx.names);
            }
            (Effect::Spawn, _, _) => self.creation_ends(thread, call, operands, None, cx),
            (Effect::ExitGroup, Return::Unseen, _) => {
                self.exit_group(case, thread, operands, call.start);
                self.exits(thread);
            }
            (Effect::Exit, Return::Unseen, _) => self.exits(thread),
            (Effect::Exec, Return::Failed(_) | Return::Injected(..), _) => self.processes.drop_alias(thread),
            _ => {}
        }
    }

    fn control(&mut self, event: &mut Event, scene: &Scene<'_>, names: &mut Dictionaries) {
        let Scene { thread, call, operands, description, .. } = *scene;
        let (command, argument) = (operands.flags[0], operands.commands[0]);
        let table = self.processes.thread(thread).table;
        let Some((fd, _)) = operands.fd else { return };
        if is_command(command, b"F_DUPFD", 0) {
            self.duplicate(event, scene, false, names);
        } else if is_command(command, b"F_DUPFD_CLOEXEC", 1030) {
            self.duplicate(event, scene, true, names);
        } else if is_command(command, b"F_SETFD", 2) {
            let cloexec = argument.is_some_and(|flags| symbols::FD_CLOEXEC.is_in(flags));
            self.descriptors.set_cloexec(table, fd, cloexec);
        } else if is_command(command, b"F_GETFD", 1) {
            if let Return::Value(flags, _) = call.ret {
                self.descriptors.set_cloexec(table, fd, flags & 1 != 0);
            }
        } else if let Some(description) = description {
            let append = if is_command(command, b"F_SETFL", 4) {
                argument.map(|flags| symbols::O_APPEND.is_in(flags))
            } else if let (true, Return::Value(flags, _)) = (is_command(command, b"F_GETFL", 3), call.ret) {
                Some(symbols::O_APPEND.is_in(&Arg::Int(flags)))
            } else {
                None
            };
            if let Some(append) = append {
                self.descriptors.description_mut(description).append = Some(append);
            }
        }
    }

    fn control_device(&mut self, id: ThreadId, operands: &Operands<'_>) {
        let table = self.processes.thread(id).table;
        if let Some((fd, _)) = operands.fd {
            if is_command(operands.flags[0], b"FIOCLEX", 0x5451) {
                self.descriptors.set_cloexec(table, fd, true);
            } else if is_command(operands.flags[0], b"FIONCLEX", 0x5450) {
                self.descriptors.set_cloexec(table, fd, false);
            }
        }
    }

    /// Closes the descriptor, unless its number stands for something else since the call was entered.
    fn close(&mut self, scene: &Scene<'_>) {
        if let Some(description) = scene.description {
            self.unshown.settles(self.descriptors.description(description).number);
        }
        let table = self.processes.thread(scene.thread).table;
        if let Some((fd, _)) = scene.operands.fd
            && self.descriptors.get(table, fd) == scene.description
            && !scene.watched().is_some_and(|watched| watched.has_closed)
        {
            self.descriptors.close(table, fd);
        }
    }

    fn close_range(&mut self, scene: &Scene<'_>) {
        let operands = scene.operands;
        let flags = operands.flags[0];
        if flags.is_some_and(|flags| symbols::CLOSE_RANGE_UNSHARE.is_in(flags)) {
            self.unshare_table(scene);
        }
        let bound = |arg: Option<&Arg<'_>>| match arg {
            Some(Arg::Fd(fd, _)) => Some(i64::from(*fd)),
            Some(arg) => integer(arg).map(|number| number & 0xffff_ffff),
            None => None,
        };
        if let Some(first) = bound(operands.commands[0]) {
            let last = bound(operands.commands[1]).unwrap_or(i64::MAX);
            let only_mark = flags.is_some_and(|flags| symbols::CLOSE_RANGE_CLOEXEC.is_in(flags));
            let table = self.processes.thread(scene.thread).table;
            self.descriptors.close_range(table, first, last, only_mark);
        }
    }

    fn unshare(&mut self, scene: &Scene<'_>) {
        let (id, Some(flags)) = (scene.thread, scene.operands.flags[0]) else { return };
        if symbols::CLONE_FILES.is_in(flags) {
            self.unshare_table(scene);
        }
        if symbols::CLONE_NEWPID.is_in(flags) {
            self.parts_ids(id);
        }
        let other_mounts = symbols::CLONE_NEWNS.is_in(flags);
        if other_mounts || symbols::CLONE_FS.is_in(flags) {
            let directory = self.processes.thread(id).directory;
            let own = self.directories.unshare(directory);
            self.processes.thread_mut(id).directory = own;
            if other_mounts {
                self.part_mounts(own);
            }
        }
    }

    /// The children that a thread makes from now on are in another PID namespace.
    fn parts_ids(&mut self, id: ThreadId) {
        let process = self.processes.thread(id).process;
        self.processes.process_mut(process).parts_ids = true;
    }

    fn unshare_table(&mut self, scene: &Scene<'_>) {
        let table = self.processes.thread(scene.thread).table;
        let own = self.descriptors.unshare_meanwhile(table, scene.since());
        self.processes.thread_mut(scene.thread).table = own;
    }
}

/// Whether what `lseek` answered is a negative number that no error has: as a position of memory that is no failure.
fn is_beyond(ret: Return<'_>) -> bool {
    match ret {
        Return::Value(position, _) => position < 0,
        Return::Failed(error) => error == b"EUNKNOWN" || !error.starts_with(b"E"),
        Return::Unseen | Return::Injected(..) => false,
    }
}
