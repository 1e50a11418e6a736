//! Which files belong to the system and not to the workflow.
//!
//! Every program maps the C library and reads the locale; drawn, these files would connect every process with every other
//! and say nothing of the workflow. They are hidden by default and counted. So are the libraries of interpreters: a Python
//! program that imports one package reads hundreds of modules, wherever they are installed.

use iotrail_model::places::{is_pseudo, is_within};

/// What a system file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum System {
    /// Not data at all: devices, `/proc`, `/sys`. Hidden also if it is written.
    Pseudo,
    /// Installed with the system: libraries, locales, configuration of the loader. Data after all if the workflow writes it.
    Installed,
}

/// Directories of installed data that every program reads.
const DIRECTORIES: [&str; 13] = [
    "/usr/share/locale",
    "/usr/share/locale-langpack",
    "/usr/share/i18n",
    "/usr/share/zoneinfo",
    "/usr/share/terminfo",
    "/usr/lib/locale",
    "/usr/lib/terminfo",
    "/lib/terminfo",
    "/etc/terminfo",
    "/etc/selinux",
    "/etc/ssl",
    "/etc/alternatives",
    "/etc/ld.so.conf.d",
];

/// Where shared libraries lie that the loader finds by itself.
const LIBRARIES: [&str; 5] = ["/lib", "/lib32", "/lib64", "/usr/lib", "/usr/local/lib"];

/// Single files.
const FILES: [&str; 19] = [
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.nohwcap",
    "/etc/ld.so.preload",
    "/etc/passwd",
    "/etc/group",
    "/etc/nsswitch.conf",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/resolv.conf",
    "/etc/gai.conf",
    "/etc/localtime",
    "/etc/timezone",
    "/etc/locale.alias",
    "/etc/locale.conf",
    "/etc/inputrc",
    "/etc/mtab",
    "/etc/services",
    "/etc/protocols",
];

/// Directories, wherever they lie, of what interpreters load.
const PACKAGES: [&str; 4] = ["site-packages", "dist-packages", "node_modules", "__pycache__"];

/// The library of an interpreter, wherever it is installed: a directory below `lib`, `lib64` or `share` of that name, perhaps with
/// a version (`lib/python3.11`, `share/perl5`).
const INTERPRETERS: [&str; 5] = ["python", "perl", "ruby", "R", "tcl"];

/// Whether a path belongs to the system.
#[must_use]
pub fn is_system(path: &str) -> bool {
    class(path).is_some()
}

/// What of the system it is, if it belongs to it.
#[must_use]
pub fn class(path: &str) -> Option<System> {
    let within = |directories: &[&str]| directories.iter().any(|directory| is_within(path, directory));
    if is_pseudo(path) && !is_within(path, "/dev/fd")
        || path.starts_with("anon_inode:")
        || path.starts_with("memfd:")
    {
        return Some(System::Pseudo);
    }
    let installed = within(&DIRECTORIES)
        || is_package(path)
        || FILES.contains(&path)
        || (is_library(path) && within(&LIBRARIES))
        || (path.contains("/gconv/") && within(&LIBRARIES));
    installed.then_some(System::Installed)
}

/// Whether a path lies in a package or in the library of an interpreter.
fn is_package(path: &str) -> bool {
    let is_version = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let is_interpreter =
        |name: &str| INTERPRETERS.iter().any(|known| name.strip_prefix(known).is_some_and(is_version));
    let mut before = "";
    path.split('/').any(|name| {
        let library = matches!(before, "lib" | "lib64" | "share") || before.ends_with("-linux-gnu");
        before = name;
        PACKAGES.contains(&name) || (library && is_interpreter(name))
    })
}

/// `libc.so.6`, `libm-2.36.so`, `ld-linux-x86-64.so.2`; not an extension of an interpreter.
fn is_library(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let versioned = |name: &str| {
        name.split_once(".so.")
            .is_some_and(|(_, version)| version.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
    };
    (name.starts_with("lib") || name.starts_with("ld")) && (name.ends_with(".so") || versioned(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_program_reads_belongs_to_the_system() {
        for path in [
            "/lib/x86_64-linux-gnu/libc.so.6",
            "/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30",
            "/lib64/ld-linux-x86-64.so.2",
            "/usr/lib/x86_64-linux-gnu/gconv/gconv-modules.cache",
            "/etc/ld.so.cache",
            "/usr/share/locale/locale.alias",
            "/usr/lib/locale/locale-archive",
            "/etc/passwd",
            "/etc/terminfo/x/xterm",
            "/usr/lib/python3/dist-packages/numpy/libs/libopenblas.so.0",
            "/usr/lib/python3.11/json/decoder.py",
            "/root/.pyenv/versions/3.11.7/lib/python3.11/__pycache__/os.cpython-311.pyc",
            "/home/me/venv/lib/python3.12/site-packages/numpy/core.py",
            "/home/me/project/__pycache__/tool.cpython-311.pyc",
            "/home/me/app/node_modules/left-pad/index.js",
            "/usr/share/perl5/Git.pm",
            "/usr/lib/x86_64-linux-gnu/perl/5.36/strict.pm",
            "/usr/lib/R/library/base/R/base",
        ] {
            assert_eq!(class(path), Some(System::Installed), "{path}");
        }
        for path in ["/dev/null", "/dev/pts/3", "/proc/self/maps", "/sys", "anon_inode:[eventfd]"] {
            assert_eq!(class(path), Some(System::Pseudo), "{path}");
        }
    }

    #[test]
    fn what_people_make_and_choose_does_not() {
        for path in [
            "/data/libfits.so",
            "/home/me/lib/libc.so.6",
            "/home/me/python3.11/data.py",
            "/home/me/lib/pythonic/data",
            "/usr/share/data/catalogue",
            "/usr/bin/cat",
            "/dev/shm/x",
            "/devices/a",
            "/procedure",
            "pipe:[7]",
            "/usr/lib/libnote.so.txt",
            "",
        ] {
            assert_eq!(class(path), None, "{path}");
        }
    }
}
