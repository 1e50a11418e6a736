//! A look at the beginning of a file: what is in it, and what a plan must know of it.

use crate::format::Format;
use crate::input::{Origin, TraceFile};
use crate::options::ImportOptions;
use crate::reader::{ReadError, TraceReader};
use crate::window::Limits;
use iotrail_model::{Clock, Dictionaries, Timestamp};

/// By so much of a text its format is recognised.
const HEAD: usize = 4 << 10;

/// What a file turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A trace, or a pipe, of which only reading can tell.
    Trace,
    /// The file has no bytes.
    Empty,
    /// Bytes that are no text.
    Binary,
    /// Text of which nothing was understood.
    Text,
    /// Something that could not be read.
    Unreadable(ReadError),
}

/// What the beginning of a file tells a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// What it is.
    pub content: Content,
    /// Whether no line names its thread, as in the files of `strace -ff`: files of one name with numbers are read together.
    pub one_thread: bool,
    /// The first time stamp.
    pub first: Option<Timestamp>,
    /// What it means.
    pub clock: Clock,
    /// How many cases are in it, as far as that is known before it is read.
    pub cases: u32,
    /// The number of its format, if it is known.
    pub(crate) format: Option<usize>,
    /// How it begins, if nothing was understood.
    pub(crate) head: String,
}

impl Probe {
    /// Of a file that is one case and a run of its own.
    #[must_use]
    pub fn of(content: Content) -> Self {
        let (head, first) = (String::new(), None);
        Self { content, one_thread: false, first, clock: Clock::Order, cases: 1, format: None, head }
    }
}

/// Looks at `file`.
pub(crate) fn probe(
    file: &TraceFile,
    formats: &[&dyn Format],
    options: &ImportOptions,
    names: &mut Dictionaries,
) -> Probe {
    if !matches!(file.origin, Origin::File(..)) {
        return Probe::of(Content::Trace);
    }
    let mut reader = TraceReader::new(file, Limits::SMALL, &options.cancel);
    let number = format_of(&mut reader, formats);
    if let (Some(read_error), true) = (reader.read_error(), reader.window.unread().is_empty()) {
        return Probe::of(Content::Unreadable(read_error.clone()));
    }
    if reader.window.ended() && reader.text_bytes() == 0 {
        return Probe { format: Some(number), ..Probe::of(Content::Empty) };
    }
    let head = first_line(reader.window.unread());
    let Some(format) = formats.get(number) else { return Probe::of(Content::Text) };
    let probe = format.probe(file, reader, options, names);
    Probe { format: Some(number), head, cases: probe.cases.max(1), ..probe }
}

/// The number of the format that a text has.
pub(crate) fn format_of(reader: &mut TraceReader, formats: &[&dyn Format]) -> usize {
    while reader.window.unread().len() < HEAD && !reader.window.ended() {
        reader.fill();
    }
    let head = reader.window.unread();
    match formats {
        [_] => 0,
        _ => formats
            .iter()
            .position(|format| format.recognises(head))
            .unwrap_or_else(|| formats.len().saturating_sub(1)),
    }
}

/// The beginning of the first line that holds anything.
fn first_line(text: &[u8]) -> String {
    const SHOWN: usize = 40;
    let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let line = lines.find(|line| !line.is_empty()).unwrap_or_default();
    String::from_utf8_lossy(line).chars().take(SHOWN).collect()
}
