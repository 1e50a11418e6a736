//! The mappings that need no file.
//!
//! `dir2` is the paper's mapping (section III, equation 4): the call and the file path cut to its top two directory
//! levels. All others change only what of the path is kept.

use crate::generalise::generalise;
use std::borrow::Cow;

/// The words for all presets, for messages.
pub(crate) const NAMES: &str = "dir2 (or dir1, dir3, ...), file, call, template, ext";

/// Mappings that need no file, by name, of `dirN` the usual ones.
pub const MAPPINGS: [&str; 8] = [crate::AUTO, "dir1", "dir2", "dir3", "file", "call", "template", "ext"];

/// A mapping that needs no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Preset {
    /// Call and the top `N` levels of the path: `read:/usr/lib`.
    Dir(u8),
    /// Call and the whole canonical path.
    File,
    /// Call alone.
    Call,
    /// Call and the path with its numbers generalised, see [`crate::generalise`].
    Template,
    /// Call and the extension of the file name.
    Ext,
}

impl Default for Preset {
    fn default() -> Self {
        Self::Dir(2)
    }
}

impl Preset {
    /// The preset of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "file" => Some(Self::File),
            "call" => Some(Self::Call),
            "template" => Some(Self::Template),
            "ext" => Some(Self::Ext),
            _ => match name.strip_prefix("dir")?.as_bytes() {
                [first @ b'1'..=b'9', rest @ ..] if rest.iter().all(u8::is_ascii_digit) => {
                    let levels = rest.iter().fold(u32::from(first - b'0'), |sum, digit| {
                        sum.saturating_mul(10).saturating_add(u32::from(digit - b'0'))
                    });
                    u8::try_from(levels).ok().map(Self::Dir)
                }
                _ => None,
            },
        }
    }

    /// The activity of a call on `path`, a canonical name with site variables.
    ///
    /// An event without a path is mapped if only its call counts or if it moves data (`read:?`): the rest (`brk`,
    /// `exit_group`, ...) is the life of the process, not what it does to files, and would flood the graph.
    #[must_use]
    pub fn activity(self, call: &str, path: Option<&str>, moves_data: bool) -> Option<String> {
        match (self, path) {
            (Self::Call, _) => Some(call.to_owned()),
            (_, Some(path)) => Some(format!("{call}:{}", self.name_of(path))),
            (_, None) => moves_data.then(|| format!("{call}:?")),
        }
    }

    /// What is kept of `path`, without the call.
    #[must_use]
    pub fn name_of(self, path: &str) -> Cow<'_, str> {
        match self {
            Self::Dir(levels) => Cow::Borrowed(top(path, usize::from(levels))),
            Self::File | Self::Call => Cow::Borrowed(path),
            Self::Template => generalise(path),
            Self::Ext => kind(path),
        }
    }
}

impl std::fmt::Display for Preset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Dir(levels) => write!(f, "dir{levels}"),
            Self::File => f.write_str("file"),
            Self::Call => f.write_str("call"),
            Self::Template => f.write_str("template"),
            Self::Ext => f.write_str("ext"),
        }
    }
}

/// At most the top `levels` levels of `path`. What is no path (`pipe`, `socket:TCP`) has one level.
#[must_use]
pub fn top(path: &str, levels: usize) -> &str {
    let borders = path.bytes().enumerate().filter(|&(index, byte)| byte == b'/' && index > 0);
    match borders.map(|(index, _)| index).nth(levels.saturating_sub(1)) {
        Some(end) => &path[..end],
        None => path,
    }
}

/// The last component.
#[must_use]
pub fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The extension with its dot (`.dat`). What consists of digits is a number and no extension: `.so` of `libc.so.6`.
#[must_use]
pub fn extension(path: &str) -> Option<&str> {
    const LONGEST: usize = 12;
    let mut name = base(path);
    loop {
        let dot = name.rfind('.').filter(|&dot| dot > 0)?;
        let text = &name[dot + 1..];
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            name = &name[..dot];
        } else {
            let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            return (plain && text.len() <= LONGEST).then_some(&name[dot..]);
        }
    }
}

fn kind(path: &str) -> Cow<'_, str> {
    match extension(path) {
        _ if !path.starts_with(['/', '$']) && !path.contains('/') => Cow::Borrowed(path),
        Some(extension) => Cow::Borrowed(extension),
        None => Cow::Borrowed("(no extension)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dir2_is_the_mapping_of_the_paper() {
        let f = |call, path| Preset::default().activity(call, Some(path), true).unwrap();
        assert_eq!(f("read", "/usr/lib/x86_64-linux-gnu/libc.so.6"), "read:/usr/lib");
        assert_eq!(f("read", "/proc/filesystems"), "read:/proc/filesystems");
        assert_eq!(f("write", "/dev/pts/7"), "write:/dev/pts");
        assert_eq!(f("read", "/etc/passwd"), "read:/etc/passwd");
        assert_eq!(f("openat", "$SCRATCH/ssf/test"), "openat:$SCRATCH/ssf");
        assert_eq!(f("openat", "/"), "openat:/");
        assert_eq!(f("write", "pipe"), "write:pipe");
        assert_eq!(f("read", "socket:TCP"), "read:socket:TCP");
    }

    #[test]
    fn each_preset_keeps_its_part_of_the_path() {
        let path = Some("/scratch/run/out.000123.dat");
        for (name, activity) in [
            ("dir1", "write:/scratch"),
            ("dir3", "write:/scratch/run/out.000123.dat"),
            ("dir255", "write:/scratch/run/out.000123.dat"),
            ("file", "write:/scratch/run/out.000123.dat"),
            ("call", "write"),
            ("template", "write:/scratch/run/out.{}.dat"),
            ("ext", "write:.dat"),
        ] {
            let preset = Preset::from_name(name).unwrap();
            assert_eq!(preset.activity("write", path, true).unwrap(), activity);
            assert_eq!(preset.to_string(), name);
        }
    }

    #[test]
    fn only_data_calls_are_mapped_without_a_path() {
        assert_eq!(Preset::default().activity("read", None, true).unwrap(), "read:?");
        assert_eq!(Preset::default().activity("brk", None, false), None);
        assert_eq!(Preset::Call.activity("brk", None, false).unwrap(), "brk");
    }

    #[test]
    fn what_is_no_preset_has_no_preset() {
        for name in
            ["", "dir", "dir0", "dir256", "dir-1", "dir02", "Dir2", "files", "dir99999999999999999999"]
        {
            assert_eq!(Preset::from_name(name), None, "{name}");
        }
    }

    #[test]
    fn numbers_are_no_extensions() {
        for (path, ext) in [
            ("/a/libc.so.6", Some(".so")),
            ("/a/out.dat.000123", Some(".dat")),
            ("/a/core.1234", None),
            ("/a/.bashrc", None),
            ("/a.d/b", None),
            ("/a/x.tar.gz", Some(".gz")),
            ("/a/x.", None),
            ("/a/x.a b", None),
        ] {
            assert_eq!(extension(path), ext, "{path}");
        }
        assert_eq!(Preset::Ext.activity("read", Some("pipe"), true).unwrap(), "read:pipe");
        assert_eq!(Preset::Ext.activity("read", Some("/a/core.1"), true).unwrap(), "read:(no extension)");
    }
}
