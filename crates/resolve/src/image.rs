//! Executable images: what they are called and what they used.

use crate::Sink;
use crate::lookup::intern;
use crate::process_table::{CommandLine, ThreadId};
use crate::resolver::Resolver;
use iotrail_model::raw::Image;
use iotrail_model::{Dictionaries, Nullable, Usage, text};
use std::sync::Arc;

impl Resolver {
    /// Announces the present image of a thread, once, with its first call. A child that only calls exec never shows.
    #[inline]
    pub(crate) fn announce<S: Sink>(&mut self, id: ThreadId, names: &Dictionaries, sink: &mut S) {
        let process = self.processes.thread(id).process;
        if !self.processes.process(process).announced {
            self.announce_now(id, names, sink);
        }
    }

    #[cold]
    fn announce_now<S: Sink>(&mut self, id: ThreadId, names: &Dictionaries, sink: &mut S) {
        let process = self.processes.thread(id).process;
        let entry = self.processes.process_mut(process);
        entry.announced = true;
        let cwd = entry.cwd.get().map(|path| names.paths.get(path.0));
        sink.image(&entry.row(None, cwd));
    }

    /// What the process itself shows of its image is better informed than the arguments of exec.
    pub(crate) fn show_image<S: Sink>(
        &mut self,
        id: ThreadId,
        image: &Image<'_>,
        names: &mut Dictionaries,
        sink: &mut S,
    ) {
        if let Some(path) = image.cwd.filter(|path| path.starts_with(b"/")) {
            let path = intern(names, path);
            self.learn_directory(id, path, names);
            let process = self.processes.thread(id).process;
            self.processes.process_mut(process).cwd = Nullable::some(path);
        }
        let process = self.processes.thread(id).process;
        let entry = self.processes.process_mut(process);
        entry.exe = image.exe.map(shared_text).or(entry.exe.take());
        let shown = image.cmdline.map(|line| CommandLine { text: shared_text(line), cut: image.cmdline_cut });
        entry.cmdline = shown.or(entry.cmdline.take());
        entry.env = image.env.iter().map(|variable| text::path_to_text(variable).into_owned()).collect();
        self.announce_now(id, names, sink);
    }

    /// What the process of a thread used up to now.
    pub(crate) fn used(&mut self, id: ThreadId, usage: Usage) {
        let process = self.processes.thread(id).process;
        self.processes.process_mut(process).usage = Some(usage);
    }
}

fn shared_text(bytes: &[u8]) -> Arc<str> {
    text::path_to_text(bytes).as_ref().into()
}
