//! Data: everything that goes to stdout or into a file the user named.

use anyhow::Context;
use std::io::{self, Write};
use std::path::Path;

/// Writes `bytes` to `target`, `-` for stdout. A file appears whole or not at all: it is written under a temporary name
/// beside its place and renamed. What is no regular file (a FIFO, `/dev/stdout`) is written to directly.
pub(crate) fn write(target: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    stream(target, |out| out.write_all(bytes).with_context(|| format!("cannot write {}", target.display())))
}

/// Lets `fill` write to `target`, `-` for stdout, with the care of [`write()`] and without holding the whole in memory.
pub(crate) fn stream<T>(
    target: &Path,
    fill: impl FnOnce(&mut dyn Write) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    if target == Path::new("-") {
        let mut out = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
        let result = fill(&mut out)?;
        out.flush().context("cannot write to stdout")?;
        return Ok(result);
    }
    let named = || format!("cannot write {}", target.display());
    if is_special(target) {
        let file = std::fs::OpenOptions::new().write(true).open(target).with_context(named)?;
        let mut out = io::BufWriter::new(file);
        let result = fill(&mut out)?;
        out.flush().with_context(named)?;
        return Ok(result);
    }
    let mut out = io::BufWriter::with_capacity(1 << 16, temporary(target).with_context(named)?);
    let result = fill(&mut out)?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error).with_context(named)?;
    file.persist(target).map_err(|error| error.error).with_context(named)?;
    Ok(result)
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

fn temporary(target: &Path) -> io::Result<tempfile::NamedTempFile> {
    let directory = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    tempfile::Builder::new().prefix(".iotrail-").permissions(public_file()).tempfile_in(directory)
}

/// Whether something that is no regular file stands at `target`: a FIFO, a device.
fn is_special(target: &Path) -> bool {
    target.metadata().is_ok_and(|meta| !meta.is_file())
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
