//! Which threads of the machine are traced from here.

use super::read::{number, value_of};
use std::fs::{read, read_dir};
use std::path::Path;

/// Whether this thread traces any other, as far as `/proc` shows.
pub(crate) fn is_tracing() -> bool {
    let own = rustix::thread::gettid().as_raw_nonzero().get() as u32;
    numbers(Path::new("/proc")).any(|process| {
        let tasks = format!("/proc/{process}/task");
        numbers(Path::new(&tasks)).any(|tid| {
            let status = read(format!("{tasks}/{tid}/status")).unwrap_or_default();
            value_of(&status, b"TracerPid:").and_then(number::<u32>) == Some(own)
        })
    })
}

/// The entries of a directory that are numbers; none if it is gone.
fn numbers(directory: &Path) -> impl Iterator<Item = u32> {
    read_dir(directory)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_traces_nothing_is_told_so() {
        assert!(!is_tracing());
    }
}
