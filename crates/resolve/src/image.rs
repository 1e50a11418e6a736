//! Executable images: what they are called and what they used.

use crate::Sink;
use crate::context::Context;
use crate::file_names::intern;
use crate::process_table::{CommandLine, ThreadId};
use crate::state::State;
use iotrail_model::raw::Image;
use iotrail_model::{Nullable, Usage, text};
use std::sync::Arc;

fn shared_text(bytes: &[u8]) -> Arc<str> {
    text::path_to_text(bytes).as_ref().into()
}

impl State {
    /// Announces the present image of a thread, once, with its first call. A copy of the parent that only calls exec never shows.
    #[inline]
    pub(crate) fn announce<S: Sink>(&mut self, id: ThreadId, cx: &mut Context<'_, S>) {
        let process = self.processes.thread(id).process;
        if !self.processes.process(process).announced {
            self.announce_now(id, cx);
        }
    }

    #[cold]
    fn announce_now<S: Sink>(&mut self, id: ThreadId, cx: &mut Context<'_, S>) {
        let process = self.processes.thread(id).process;
        let entry = self.processes.process_mut(process);
        entry.announced = true;
        let cwd = entry.cwd.get().map(|path| cx.names.paths.get(path.0));
        cx.sink.image(&entry.row(None, cwd));
    }

    /// What the process itself shows of its image is better informed than the arguments of exec.
    pub(crate) fn show_image<S: Sink>(&mut self, id: ThreadId, image: &Image<'_>, cx: &mut Context<'_, S>) {
        if let Some(path) = image.cwd.filter(|path| path.starts_with(b"/")) {
            let path = intern(cx.names, path);
            self.learn_directory(id, path, cx.names);
            let process = self.processes.thread(id).process;
            self.processes.process_mut(process).cwd = Nullable::some(path);
        }
        let process = self.processes.thread(id).process;
        let entry = self.processes.process_mut(process);
        entry.exe = image.exe.map(shared_text).or(entry.exe.take());
        let shown = image.cmdline.map(|line| CommandLine { text: shared_text(line), cut: image.cmdline_cut });
        entry.cmdline = shown.or(entry.cmdline.take());
        entry.env = image.env.iter().map(|variable| text::path_to_text(variable).into_owned()).collect();
        self.announce_now(id, cx);
    }

    /// What the process of a thread used up to now.
    pub(crate) fn used(&mut self, id: ThreadId, usage: Usage) {
        let process = self.processes.thread(id).process;
        self.processes.process_mut(process).usage = Some(usage);
    }
}
