//! Data: everything that goes to stdout or into a file the user named.

use anyhow::Context;
use std::io::{self, Write};
use std::path::Path;

/// Writes `bytes` to `target`, `-` for stdout. A file appears whole or not at all: it is written under a temporary name
/// beside its place and renamed. What is no regular file (a FIFO, `/dev/stdout`) is written to directly.
pub(crate) fn write(target: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    if target == Path::new("-") {
        return stdout(bytes);
    }
    write_file(target, bytes).with_context(|| format!("cannot write {}", target.display()))
}

/// Writes to stdout.
pub(crate) fn stdout(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).context("cannot write to stdout")
}

/// Writes a value as JSON and a line end to stdout.
pub(crate) fn json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    stdout(&text)
}

fn write_file(target: &Path, bytes: &[u8]) -> io::Result<()> {
    if target.metadata().is_ok_and(|meta| !meta.is_file()) {
        return std::fs::OpenOptions::new().write(true).open(target)?.write_all(bytes);
    }
    let directory = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file =
        tempfile::Builder::new().prefix(".iotrail-").permissions(public_file()).tempfile_in(directory)?;
    file.write_all(bytes)?;
    file.persist(target).map_err(|error| error.error)?;
    Ok(())
}

/// Read and write for all, less the umask: what any program's output file has.
fn public_file() -> std::fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o666)
}

/// Whether the reader of our stdout went away, which is not an error (`iotrail events T | head`).
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|io| io.kind() == io::ErrorKind::BrokenPipe)
    })
}
