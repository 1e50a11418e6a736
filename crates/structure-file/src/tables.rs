//! The tables of a structure: keys, lines, files.

use crate::document::{CallKey, Line};
use crate::error::FileError;
use crate::reader::Reader;
use crate::writer::Writer;
use hashbrown::HashMap;
use iotrail_model::canonical::canonical;
use iotrail_model::{
    CallId, CaseId, Cell, ErrnoId, FileKind, FileRow, FlagsId, Layer, Names, Nullable, Pid, Tid, Timestamp,
};
use std::borrow::Cow;
use std::sync::Arc;

type Result<T> = std::result::Result<T, FileError>;

pub(crate) fn write_keys(keys: &[CallKey], out: &mut Writer) {
    out.columns(
        keys,
        &[
            |key| key.layer.number(),
            |key| key.call.number(),
            |key| key.errno.number(),
            |key| key.flags.number(),
            |key| key.role.map(i64::from),
        ],
    );
}

pub(crate) fn read_keys(input: &mut Reader<'_>, names: &Names, roles: usize) -> Result<Vec<CallKey>> {
    let rows = input.columns::<5>()?;
    let known =
        |number: Option<i64>, len: usize| number.is_none_or(|number| (0..len as i64).contains(&number));
    let key = |[layer, call, errno, flags, role]: [Option<i64>; 5]| {
        let named = known(call, names.calls.len())
            && known(errno, names.errnos.len())
            && known(flags, names.flags.len())
            && known(role, roles);
        let layer = Layer::of_number(layer)?;
        let (call, errno, flags) = (
            CallId::of_number(call)?,
            Nullable::<ErrnoId>::of_number(errno)?,
            Nullable::<FlagsId>::of_number(flags)?,
        );
        let role = role.map(|role| role as u32);
        named.then_some(CallKey { layer, call, errno, flags, role, site: Nullable::NULL })
    };
    let keys: Option<Vec<CallKey>> = rows.into_iter().map(key).collect();
    keys.ok_or_else(|| {
        input.error("a key of what does not exist", "layers, calls, errors and flags of the file")
    })
}

/// A line as numbers: case, process, thread, rank, start, events.
pub(crate) fn line_row(line: &Line) -> [Option<i64>; 6] {
    [
        line.case.number(),
        line.pid.number(),
        line.tid.number(),
        Some(line.rank.into()),
        Some(line.start.0),
        Some(line.events.into()),
    ]
}

/// The line of such a row, of one of so many cases.
pub(crate) fn line_of([case, pid, tid, rank, start, events]: [Option<i64>; 6], cases: usize) -> Option<Line> {
    let case = CaseId::of_number(case).filter(|case| case.index() < cases)?;
    let (pid, tid) = (Pid::of_number(pid)?, Tid::of_number(tid)?);
    let (rank, events) = (u32::try_from(rank?).ok()?, u32::try_from(events?).ok()?);
    Some(Line { case, pid, tid, rank, start: Timestamp(start?), events })
}

/// Lines as files before version 4 have them.
pub(crate) fn read_lines(input: &mut Reader<'_>, cases: usize) -> Result<Vec<Line>> {
    let rows = input.columns::<6>()?;
    let lines: Option<Vec<Line>> = rows.into_iter().map(|row| line_of(row, cases)).collect();
    lines.ok_or_else(|| input.error("a line that is none", format_args!("lines of {cases} cases")))
}

/// A row of `files` and where its path is among the names.
type Named<'a> = (&'a FileRow, i64);

pub(crate) fn write_files(files: &[FileRow], names: &Names, out: &mut Writer) -> Result<()> {
    let paths: HashMap<&str, i64> = names.paths.iter().map(|path| &**path).zip(0..).collect();
    let rows: Option<Vec<Named<'_>>> =
        files.iter().map(|file| Some((file, *paths.get(&*file.path)?))).collect();
    let rows = rows.ok_or(FileError::TooMany { what: "files without a name among the paths" })?;
    out.columns(
        &rows,
        &[
            |(_, path)| Some(*path),
            |(file, _)| file.kind.as_deref().and_then(kind_number),
            |(file, _)| file.device.map(|device| device as i64),
            |(file, _)| file.inode.map(|inode| inode as i64),
            |(file, _)| file.size,
            |(file, _)| file.file.map(i64::from),
            |(file, _)| file.birth,
            |(file, _)| file.gone.map(i64::from),
            |(file, _)| file.case.map(|case| i64::from(case.0)),
        ],
    );
    Ok(())
}

fn kind_number(kind: &str) -> Option<i64> {
    FileKind::ALL.iter().position(|known| known.name() == kind).map(|kind| kind as i64)
}

pub(crate) fn read_files(input: &mut Reader<'_>, names: &Names, cases: usize) -> Result<Vec<FileRow>> {
    let rows = input.columns::<9>()?;
    let mut canonical_paths: HashMap<usize, Arc<str>> = HashMap::new();
    let file = |[path, kind, device, inode, size, file, birth, gone, case]: [Option<i64>; 9]| {
        let number = usize::try_from(path?).ok()?;
        let path = names.paths.get(number)?;
        let canonical = canonical_paths.entry(number).or_insert_with(|| match canonical(path) {
            Cow::Borrowed(same) if same.len() == path.len() => Arc::clone(path),
            other => other.into(),
        });
        let kind = kind.map(|kind| FileKind::ALL.get(usize::try_from(kind).ok()?));
        let file = file.map(u32::try_from);
        let case = case.map(|case| CaseId::of_number(Some(case)).filter(|case| case.index() < cases));
        let known = kind != Some(None) && case != Some(None) && !matches!(file, Some(Err(_) | Ok(u32::MAX)));
        known.then(|| FileRow {
            path: Arc::clone(path),
            canonical: Arc::clone(canonical),
            kind: kind.flatten().map(|kind| kind.name().to_owned()),
            device: device.map(|device| device as u64),
            inode: inode.map(|inode| inode as u64),
            size,
            file: file.and_then(std::result::Result::ok),
            birth,
            gone: gone.map(|gone| gone != 0),
            case: case.flatten(),
        })
    };
    let files: Option<Vec<FileRow>> = rows.into_iter().map(file).collect();
    files.ok_or_else(|| input.error("a row that is no file", "paths of the file, kinds, numbers of files"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::Content;
    use crate::section::Section;

    #[test]
    fn files_of_a_path_share_its_texts() {
        let paths = ["/data/in", "/proc/4711/maps"].map(Arc::from).to_vec();
        let names = Names { paths, ..Names::default() };
        let rows: Vec<FileRow> = names
            .paths
            .iter()
            .chain(&names.paths)
            .map(|path| FileRow {
                path: Arc::clone(path),
                canonical: canonical(path).into(),
                ..FileRow::default()
            })
            .collect();
        let mut out = Writer::default();
        write_files(&rows, &names, &mut out).expect("files");
        let content = Content::from(out);
        let files = read_files(&mut Reader::new(Section::Files, &content), &names, 0).expect("files");
        assert_eq!(files, rows);
        assert!(Arc::ptr_eq(&files[0].canonical, &names.paths[0]));
        assert!(Arc::ptr_eq(&files[1].canonical, &files[3].canonical));
    }
}
