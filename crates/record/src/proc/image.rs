//! What a process shows of its executable image.

use super::environment::EnvSelection;
use super::{link, read};
use iotrail_model::Tid;
use iotrail_model::raw::Image;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;

/// The longest command line that is kept; a longer one is cut and [`ImageFacts::cut`] says by how much.
const MAX_CMDLINE: usize = 1 << 16;
/// The kernel bounds arguments and environment together by 6 MiB (`execve(2)`); a process can later claim any part of
/// its memory to be them.
const MAX_STRINGS: usize = 8 << 20;

/// What a process shows of its executable image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImageFacts {
    /// Path of the executable (of a script: of its interpreter), also if that has been deleted since.
    pub exe: Option<Vec<u8>>,
    /// Command line, arguments separated by NUL.
    pub cmdline: Option<Vec<u8>>,
    /// Bytes of the command line that were left off.
    pub cut: u64,
    /// Working directory, also if that has been deleted since.
    pub cwd: Option<Vec<u8>>,
    /// Chosen environment variables, `NAME=value`, sorted.
    pub env: Vec<Vec<u8>>,
}

impl ImageFacts {
    /// Hands the image to `take` as the resolver wants it.
    pub fn with<T>(&self, take: impl FnOnce(Image<'_>) -> T) -> T {
        let env: Vec<&[u8]> = self.env.iter().map(Vec::as_slice).collect();
        take(Image {
            exe: self.exe.as_deref(),
            cmdline: self.cmdline.as_deref(),
            cmdline_cut: self.cut > 0,
            cwd: self.cwd.as_deref(),
            env: &env,
        })
    }
}

/// What the process of thread `tid` shows of its image, to be read after an exec or in a snapshot, with the variables of
/// its environment that are in `selection`.
#[must_use]
pub fn image(tid: Tid, selection: &EnvSelection) -> ImageFacts {
    let (cmdline, cut) = cmdline(tid).map_or((None, 0), |(text, cut)| (Some(text), cut));
    let cwd = path(tid, "cwd");
    let env = environment(tid, selection, cwd.as_deref());
    ImageFacts { exe: path(tid, "exe"), cmdline, cut, cwd, env }
}

/// Whether `name` is another name of the working directory `cwd`, through symbolic links.
fn is_other_name(tid: Tid, name: &[u8], cwd: Option<&[u8]>) -> bool {
    let stat = |path: &OsStr| fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    name.starts_with(b"/")
        && cwd.is_some_and(|cwd| cwd != name)
        && stat(OsStr::from_bytes(name))
            .is_some_and(|found| stat(format!("/proc/{tid}/cwd").as_ref()) == Some(found))
}

/// The path that the link `name` of a thread leads to, if it leads to one that can be reached.
pub(crate) fn path(tid: Tid, name: &str) -> Option<Vec<u8>> {
    let link = format!("/proc/{tid}/{name}");
    let stat = super::descriptor::stat(&link)?;
    let found = link::name(&link, &format!("/proc/{tid}/root"), &stat)?;
    Some(found.name).filter(|path| path.first() == Some(&b'/'))
}

fn cmdline(tid: Tid) -> Option<(Vec<u8>, u64)> {
    let file = read::open(tid, "cmdline").ok()?;
    let (mut kept, mut length) = (Vec::new(), 0);
    read::chunks(&file, &mut [0; 4096], |bytes| {
        let room = MAX_CMDLINE - kept.len();
        kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
        length += bytes.len();
        length < MAX_STRINGS
    })?;
    let cut = (length - kept.len()) as u64;
    if cut == 0 {
        kept.pop_if(|last| *last == 0);
    }
    Some((kept, cut)).filter(|_| length > 0)
}

fn environment(tid: Tid, selection: &EnvSelection, cwd: Option<&[u8]>) -> Vec<Vec<u8>> {
    let Ok(file) = read::open(tid, "environ") else { return Vec::new() };
    let mut chosen = selection.collector();
    let mut length = 0;
    let whole = read::chunks(&file, &mut [0; 16384], |bytes| {
        chosen.take(bytes);
        length += bytes.len();
        length < MAX_STRINGS
    });
    whole.map(|()| chosen.finish(|name| is_other_name(tid, name, cwd))).unwrap_or_default()
}
