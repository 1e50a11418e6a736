//! From a trail to its copy.

use crate::coverage;
use crate::error::RedactError;
use crate::public;
use crate::returned::Shown;
use crate::words::Words;
use iotrail_model::sources::SOURCES;
use iotrail_model::{
    Case, CaseName, Cell, CellKind, Dictionaries, EnvironmentDigests, Event, FileId, Frame, NameKind,
    NamedFile, Nullable, PathId, Process, Site, SiteId, SourcePlace,
};
use iotrail_trail::{Capture, Columns, CreateOptions, EventLog, PartWriter, Totals, TrailWriter};
use serde::Serialize;
use std::collections::HashSet;
use std::convert::Infallible;
use std::path::Path;

/// What is told of a recording.
const DETAILS: [&str; 2] = ["job", "launcher"];

/// How a copy is made.
#[derive(Clone, Debug)]
pub struct RedactOptions {
    /// How texts are replaced.
    pub words: Words,
    /// Replace a trail that is there already.
    pub overwrite: bool,
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Redacted {
    /// Events copied: all.
    pub events: u64,
    /// Distinct paths.
    pub paths: u64,
    /// Paths that got another name.
    pub renamed: u64,
    /// Paths that became the same as another by a rule: what is known of them is joined.
    pub joined: u64,
    /// Processes copied.
    pub processes: u64,
}

/// Writes a copy of `log` to `target`; `step` is told the number of events after each row group.
///
/// # Errors
/// If a trail cannot be read or written.
pub fn redact(
    log: &EventLog,
    target: &Path,
    options: &RedactOptions,
    mut step: impl FnMut(u64),
) -> Result<Redacted, RedactError> {
    let processes = log.processes()?;
    let paths = log.names().paths.iter().map(|path| &**path).chain(other_paths(log));
    let words = &options.words.clone().with_processes(processes.iter()).with_paths(paths);
    let writer =
        TrailWriter::create(target, CreateOptions { overwrite: options.overwrite })?.distinct_files();
    let mut part = writer.part()?;
    let (names, mut redacted) = Translation::new(log, words);
    for row_group in 0..log.row_groups() {
        let batch = log.read_numbered(row_group, Columns::ALL)?;
        for row in 0..batch.len {
            part.push(&names.event(batch.event(row)), &names.dictionaries)?;
        }
        redacted.events += batch.len as u64;
        step(redacted.events);
    }
    for (number, site) in log.sites().iter().enumerate() {
        part.push_site(SiteId::from_index(number), of_site(site, words));
    }
    let mut digests = EnvironmentDigests::default();
    let capture = of_capture(log, &processes, words);
    for process in processes {
        part.push_process(&of_process(process, words, &mut digests))?;
        redacted.processes += 1;
    }
    files(log, words, &mut part)?;
    let summary = part.finish(&names.dictionaries)?;
    let cases: Vec<Case> = log.cases().iter().map(|case| of_case(case, words)).collect();
    let coverage = coverage::redacted(&log.coverage(), words, &redacted);
    let _: Totals = writer.finish(&cases, vec![summary], capture, &coverage)?;
    Ok(redacted)
}

/// Paths that no event names.
fn other_paths(log: &EventLog) -> impl Iterator<Item = &str> {
    let frames = log.sites().iter().flat_map(|site| &site.frames);
    let of_frames = frames.flat_map(|frame| [Some(&*frame.module), frame.source.file.as_deref()]).flatten();
    let sources = log.cases().iter().map(|case| &*case.source);
    let inputs = log.trails().iter().flat_map(|trail| &trail.meta().capture.inputs).map(String::as_str);
    of_frames.chain(sources).chain(inputs)
}

/// From the log's ids to those of the copy.
struct Translation {
    dictionaries: Dictionaries,
    calls: Vec<u32>,
    paths: Vec<u32>,
    errnos: Vec<u32>,
    flags: Vec<u32>,
    /// By call of the log: which of the numbers that it returns stay.
    returned: Vec<Shown>,
    /// By file of the log: whether the log numbers it, or tells it by its name alone.
    numbered: Vec<bool>,
    /// By path of the log: the file that it means where an event has no number, if readers of the copy would take another one.
    meant: Vec<Nullable<FileId>>,
}

impl Translation {
    fn new(log: &EventLog, words: &Words) -> (Self, Redacted) {
        let names = log.names();
        let mut dictionaries = Dictionaries::default();
        let mut redacted = Redacted { paths: names.paths.len() as u64, ..Redacted::default() };
        let mut seen = HashSet::new();
        let paths = names.paths.iter().map(|path| {
            let new = words.path(path);
            redacted.renamed += u64::from(new != **path);
            let id = dictionaries.paths.intern(&iotrail_model::text::text_to_path(&new));
            redacted.joined += u64::from(!seen.insert(id));
            id
        });
        let paths = paths.collect();
        let kept = |text: &str, stays: bool| if stays { text.to_owned() } else { words.text(text) };
        let returned = names.calls.iter().map(|name| Shown::of(name)).collect();
        let calls = names.calls.iter();
        let calls = calls
            .map(|name| dictionaries.calls.intern(kept(name, public::is_call(name)).as_bytes()))
            .collect();
        let errnos = names.errnos.iter();
        let errnos = errnos
            .map(|name| dictionaries.errnos.intern(kept(name, public::is_error(name)).as_bytes()))
            .collect();
        let flags = names.flags.iter();
        let flags = flags
            .map(|text| {
                // Names by which links were opened are among them.
                let copied = match text.starts_with('/') {
                    true => words.path(text),
                    false if public::are_requests(text) => text.to_string(),
                    false => public::flags(text, &|word| words.text(word)),
                };
                dictionaries.flags.intern(copied.as_bytes())
            })
            .collect();
        let numbered = log.distinct_files().iter().map(|file| file.numbered).collect();
        let meant = meant(log);
        (Self { dictionaries, calls, returned, paths, errnos, flags, numbered, meant }, redacted)
    }

    /// An event under new names.
    fn event(&self, event: Event) -> Event {
        let ret = self.returned[event.call.index()].of_event(&event);
        let meant = |file: Nullable<FileId>, path: Nullable<PathId>| match (file.get(), path.get()) {
            (None, Some(path)) => self.meant[path.index()],
            _ => file,
        };
        let (file, file2) = (meant(event.file, event.path), meant(event.file2, event.path2));
        self.renamed_event(Event { ret, file, file2, ..event })
    }

    /// Calls and symbols: those that everybody knows stay.
    fn known<C: Cell>(&self, cell: C) -> C {
        self.named(cell)
    }

    /// Paths: they get other names.
    fn renamed<C: Cell>(&self, cell: C) -> C {
        self.named(cell)
    }

    /// A cell with the copy's id for the log's.
    fn named<C: Cell>(&self, cell: C) -> C {
        let id = |kind, id: u32| match kind {
            NameKind::Call => self.calls[id as usize],
            NameKind::Path => self.paths[id as usize],
            NameKind::Errno => self.errnos[id as usize],
            NameKind::Flags => self.flags[id as usize],
        };
        let Ok(cell) = cell.with_names(&mut |kind, name| Ok::<_, Infallible>(id(kind, name)));
        cell
    }

    /// Files: those that are told by their name alone are told by their new one.
    fn numbered(&self, file: Nullable<FileId>) -> Nullable<FileId> {
        file.get().filter(|file| self.numbered[file.index()]).into()
    }

    /// Numbers, which tell no name.
    fn kept<C: Cell>(&self, cell: C) -> C {
        const { assert!(!matches!(C::KIND, CellKind::Name(_) | CellKind::File), "names are not kept as they are") };
        cell
    }
}

macro_rules! translate {
    ($(#[$doc:meta] $field:ident: $cell:ty, $constant:ident = $name:literal, $packing:ident, $redaction:ident, $code:ident;)*) => {
        impl Translation {
            /// An event as the list of columns says that each cell is to be treated.
            fn renamed_event(&self, event: Event) -> Event {
                Event { $($field: self.$redaction(event.$field),)* }
            }
        }
    };
}

iotrail_model::event_columns!(translate);

/// Which file each path means where an event has no number. Whoever reads the copy takes the first of that name, as whoever reads the log does,
/// but the copy numbers files as a whole, so that another one may be the first: there the event gets the number.
fn meant(log: &EventLog) -> Vec<Nullable<FileId>> {
    let mut first = vec![Nullable::<FileId>::NULL; log.names().paths.len()];
    for (number, file) in log.distinct_files().iter().enumerate().filter(|(_, file)| file.numbered) {
        for name in &file.names {
            let first = &mut first[name.path.index()];
            *first = first.get().or(Some(FileId::from_index(number))).into();
        }
    }
    let meant = first.iter().enumerate().map(|(path, first)| {
        let file = log.file_of(PathId::from_index(path));
        Some(file).filter(|file| first.get() != Some(*file)).into()
    });
    meant.collect()
}

fn of_case(case: &Case, words: &Words) -> Case {
    let name = &case.name;
    Case {
        name: CaseName {
            cid: name.cid.as_deref().map(|cid| words.word(cid)),
            host: name.host.as_deref().map(|host| words.host(host)),
            rid: name.rid.as_deref().map(|rid| words.rank(rid)),
        },
        label: case.label.as_deref().map(|label| words.text(label)),
        source: words.path(&case.source),
        ..case.clone()
    }
}

fn of_process(process: Process, words: &Words, digests: &mut EnvironmentDigests) -> Process {
    let variable = |entry: &String| digests.numbered(entry).unwrap_or_else(|| words.variable(entry));
    let mut env: Vec<_> = process.env.iter().map(variable).collect();
    // In the order of the names before, it would be known between which others one is.
    env.sort_unstable();
    Process {
        signal: process
            .signal
            .map(|signal| if public::is_signal(&signal) { signal } else { words.text(&signal) }),
        exe: process.exe.as_deref().map(|exe| words.path(exe)),
        cmdline: process.cmdline.as_deref().map(|line| words.command(line, process.exe.as_deref())),
        cwd: process.cwd.as_deref().map(|cwd| words.path(cwd)),
        env,
        ..process
    }
}

/// A call site whose modules, functions and sources have other names. A build ID would tell the module.
fn of_site(site: &Site, words: &Words) -> Site {
    let frame = |frame: &Frame| Frame {
        module: words.path(&frame.module),
        build_id: None,
        offset: frame.offset,
        source: SourcePlace {
            function: frame.source.function.as_deref().map(|function| words.text(function)),
            file: frame.source.file.as_deref().map(|file| words.path(file)),
            line: frame.source.line,
        },
    };
    Site { frames: site.frames.iter().map(frame).collect() }
}

/// What is known of files.
fn files(log: &EventLog, words: &Words, part: &mut PartWriter) -> Result<(), RedactError> {
    for row in log.file_names() {
        let path = words.path(&row.path);
        let numbered = row.file.map(FileId).filter(|file| log.distinct_files()[file.index()].numbered);
        let named = NamedFile { file: numbered.into(), ..row.named() };
        part.push_file(&iotrail_model::text::text_to_path(&path), named)?;
    }
    Ok(())
}

/// Where a trail comes from: of an import, several formats may be named.
fn sources(source: &str, words: &Words) -> String {
    source.split(',').map(|source| kept(source, &SOURCES, words)).collect::<Vec<_>>().join(",")
}

/// How the first trail was captured, without names.
fn of_capture(log: &EventLog, processes: &[Process], words: &Words) -> Capture {
    let Some(trail) = log.trails().first() else { return Capture::default() };
    let capture = &trail.meta().capture;
    Capture {
        source: sources(&capture.source, words),
        command: capture.command.as_deref().map(|line| words.sentence(line, processes.iter())),
        host: capture.host.as_deref().map(|host| words.host(host)),
        inputs: capture.inputs.iter().map(|input| words.path(input)).collect(),
        details: capture
            .details
            .iter()
            .map(|(name, text)| (kept(name, &DETAILS, words), words.text(text)))
            .collect(),
    }
}

fn kept(text: &str, known: &[&str], words: &Words) -> String {
    if known.contains(&text) { text.to_owned() } else { words.text(text) }
}
