//! The commands of a job as they were executed.

use super::divide::command_image;
use super::launch::{Launches, name};
use super::{Command, Output};
use iotrail_model::Names;
use iotrail_model::text::{path_to_text, text_to_path};
use iotrail_query::{LifeId, Lives};
use serde::Serializer;
use std::sync::Arc;

/// Recorders keep that many bytes of a command line. In trails that do not say what was cut, one of this length was.
const CUT_AT: usize = 1 << 16;

/// Writes arguments in their text form.
pub(crate) fn as_text<S: Serializer>(argv: &[Vec<u8>], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(argv.iter().map(|argument| path_to_text(argument)))
}

/// The command of a process, or why there is none.
pub(crate) fn command(
    lives: &Lives,
    launches: &Launches,
    names: &Names,
    life: LifeId,
) -> Result<Command, String> {
    let image = command_image(lives, launches, life).ok_or("it executed nothing")?;
    let line = image.cmdline.as_deref().ok_or("its command line was not recorded")?;
    if image.cmdline_cut.unwrap_or_else(|| text_to_path(line).len() >= CUT_AT) {
        return Err(
            "its command line is not complete in the trail (`strace -s` cuts it, a recorder does at 64 KiB)"
                .to_owned(),
        );
    }
    let argv: Vec<Vec<u8>> = line.split('\0').map(|argument| text_to_path(argument).into_owned()).collect();
    let parent = lives.get(life).parent.map(|parent| lives.last_image(parent));
    let env = match parent {
        Some(parent) => image.env.iter().filter(|variable| !parent.env.contains(variable)).cloned().collect(),
        None => Vec::new(),
    };
    let output = |descriptor| {
        let (path, mode, first) = launches.redirection(life, descriptor).filter(|(_, mode, _)| mode.write)?;
        let append = mode.append || !(mode.truncate && first);
        Some(Output { path: name(names, path).clone(), append })
    };
    let stdin = launches.redirection(life, 0).filter(|(_, mode, _)| !mode.write);
    let [_, out, err] = &launches.get(life).streams;
    let (stdout, mut stderr) = (output(1), output(2));
    let one = out.is_some() && out == err;
    if one && let (Some(stdout), Some(stderr)) = (&stdout, &mut stderr) {
        stderr.clone_from(stdout);
    }
    Ok(Command {
        life,
        exe: image.exe.as_deref().map(Arc::from),
        argv,
        cwd: image.cwd.as_deref().map(Arc::from),
        env,
        stdin: stdin.map(|(path, _, _)| name(names, path).clone()),
        stdout,
        stderr,
        stderr_to_pipe: one && out.is_some_and(|handle| handle.pipe),
    })
}

impl Command {
    /// The word to execute: the first argument, or the executable where the argument is no command (a login shell's `-sh`).
    #[must_use]
    pub fn program(&self) -> &[u8] {
        let first = self.argv.first().map(Vec::as_slice).unwrap_or_default();
        match &self.exe {
            Some(exe) if first.is_empty() || first.starts_with(b"-") => exe.as_bytes(),
            _ => first,
        }
    }

    /// The base name of [`Command::program`], as text.
    #[must_use]
    pub fn base_name(&self) -> String {
        let program = String::from_utf8_lossy(self.program());
        program.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned()
    }
}
