//! What a trace shows of a file: the structure that `stat` and its relatives stored, as `strace -v` prints it.

use crate::symbols::{field, number};
use iotrail_model::raw::Arg;
use iotrail_model::{FileFacts, FileKind};

/// The attributes among the arguments of a call; `None` if device and inode were not printed.
pub(crate) fn shown(args: &[Arg<'_>]) -> Option<FileFacts> {
    args.iter().find_map(|arg| match arg {
        Arg::Text(text) if text.starts_with(b"{st") => of_stat(text).or_else(|| of_statx(text)),
        _ => None,
    })
}

fn of_stat(text: &[u8]) -> Option<FileFacts> {
    let unsigned = |name: &[u8]| u64::try_from(number(field(text, name)?)?).ok();
    Some(FileFacts {
        device: device(text)?,
        inode: unsigned(b"st_ino")?,
        size: size(text, b"st_mode", b"st_size"),
        kind: kind(text, b"st_mode"),
        birth: None,
    })
}

fn of_statx(text: &[u8]) -> Option<FileFacts> {
    let unsigned = |name: &[u8]| u64::try_from(number(field(text, name)?)?).ok();
    Some(FileFacts {
        device: make_device(unsigned(b"stx_dev_major")?, unsigned(b"stx_dev_minor")?),
        inode: unsigned(b"stx_ino")?,
        size: size(text, b"stx_mode", b"stx_size"),
        kind: kind(text, b"stx_mode"),
        birth: birth(text),
    })
}

/// `st_dev=makedev(0x8, 0x10)`
fn device(text: &[u8]) -> Option<u64> {
    let value = field(text, b"st_dev")?;
    let Some(major) = value.strip_prefix(b"makedev(") else { return u64::try_from(number(value)?).ok() };
    let at = memchr::memmem::find(text, value)? + value.len();
    let minor = text.get(at..)?.strip_prefix(b", ")?;
    make_device(number(major)?.try_into().ok()?, number(minor)?.try_into().ok()?).into()
}

/// As in `st_dev`.
const fn make_device(major: u64, minor: u64) -> u64 {
    (major & 0xffff_f000) << 32 | (major & 0xfff) << 8 | (minor & 0xffff_ff00) << 12 | minor & 0xff
}

/// Sizes are those of files only.
fn size(text: &[u8], mode: &[u8], name: &[u8]) -> Option<i64> {
    let value = field(text, name).filter(|_| kind(text, mode) == Some(FileKind::File))?;
    number(value).filter(|size| *size >= 0)
}

/// `st_mode=S_IFREG|0644`
fn kind(text: &[u8], name: &[u8]) -> Option<FileKind> {
    let mode = field(text, name)?;
    let of_number = || FileKind::of_mode(u32::try_from(number(mode)?).ok()?);
    match mode.split(|byte| *byte == b'|').next()? {
        b"S_IFREG" => Some(FileKind::File),
        b"S_IFDIR" => Some(FileKind::Directory),
        b"S_IFIFO" => Some(FileKind::Pipe),
        b"S_IFSOCK" => Some(FileKind::Socket),
        b"S_IFCHR" => Some(FileKind::Char),
        b"S_IFBLK" => Some(FileKind::Block),
        _ => of_number(),
    }
}

/// `stx_btime={tv_sec=1, tv_nsec=2}`, which is nothing if the file system does not keep it.
fn birth(text: &[u8]) -> Option<i64> {
    let mask = field(text, b"stx_mask")?;
    let is_known = match number(mask) {
        Some(mask) => mask & 0x800 != 0,
        None => mask.split(|byte| *byte == b'|').any(|word| matches!(word, b"STATX_BTIME" | b"STATX_ALL")),
    };
    let at = memchr::memmem::find(text, b"stx_btime=").filter(|_| is_known)?;
    let time = &text[at..];
    let (seconds, nanoseconds) = (number(field(time, b"tv_sec")?)?, number(field(time, b"tv_nsec")?)?);
    seconds.checked_mul(1_000_000_000)?.checked_add(nanoseconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &[u8] = b"{st_dev=makedev(0x8, 0x10), st_ino=5767426, st_mode=S_IFREG|0644, st_nlink=1, \
        st_uid=0, st_gid=0, st_blksize=4096, st_blocks=8, st_size=5, st_atime=1700000000 /* 2023 */, \
        st_atime_nsec=1}";
    const STATX: &[u8] =
        b"{stx_mask=STATX_BASIC_STATS|STATX_BTIME|STATX_MNT_ID, stx_blksize=4096, stx_attributes=0, \
        stx_nlink=1, stx_uid=0, stx_gid=0, stx_mode=S_IFDIR|0755, stx_ino=7, stx_size=4096, stx_blocks=8, \
        stx_attributes_mask=0x30, stx_atime={tv_sec=9, tv_nsec=9} /* 1970 */, \
        stx_btime={tv_sec=1700000000, tv_nsec=5}, stx_rdev_major=0, stx_rdev_minor=0, stx_dev_major=8, \
        stx_dev_minor=17, stx_mnt_id=0x1}";

    #[test]
    fn attributes_are_read_as_strace_prints_them() {
        let of_stat = FileFacts {
            device: 0x810,
            inode: 5_767_426,
            size: Some(5),
            kind: Some(FileKind::File),
            birth: None,
        };
        assert_eq!(shown(&[Arg::Text(STAT), Arg::Int(0)]), Some(of_stat));
        let of_statx = FileFacts {
            device: 0x811,
            inode: 7,
            size: None,
            kind: Some(FileKind::Directory),
            birth: Some(1_700_000_000_000_000_005),
        };
        assert_eq!(shown(&[Arg::Text(b"x"), Arg::Text(STATX)]), Some(of_statx));
    }

    #[test]
    fn what_was_not_printed_is_not_known() {
        assert_eq!(shown(&[Arg::Text(b"{st_mode=S_IFREG|0644, st_size=5, ...}")]), None);
        assert_eq!(
            shown(&[Arg::Text(b"{stx_mask=STATX_TYPE, stx_mode=S_IFREG|0644, stx_size=5, ...}")]),
            None
        );
        assert_eq!(shown(&[Arg::Text(b"{st_dev=makedev(0x8"), Arg::Opaque]), None);
        assert_eq!(shown(&[Arg::Text(b"{st_dev=makedev(, st_ino=-1}"), Arg::Int(5)]), None);
        let text = String::from_utf8(STATX.to_vec()).unwrap().replace("|STATX_BTIME", "");
        assert_eq!(shown(&[Arg::Text(text.as_bytes())]).map(|facts| facts.birth), Some(None));
        assert_eq!(make_device(0x12_3456, 0x7_89ab), 0x12_3000_0000_0000 | 0x45600 | 0x7_8900 << 12 | 0xab);
    }
}
