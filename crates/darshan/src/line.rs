//! What a line of the text of `darshan-dxt-parser` says.

use bstr::ByteSlice;
use iotrail_model::{Layer, Nanos};

/// What a line says. Every line is exactly one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// A DXT segment: one read or write.
    Segment(Segment),
    /// `# exe: ./a.out`: something about the job.
    Job {
        /// Key of the job's header line.
        key: &'a [u8],
        /// Value of the header line, as it was printed.
        value: &'a [u8],
    },
    /// The transfers of a file by a rank follow. The path is unknown if Darshan could not keep it.
    File(Option<&'a [u8]>),
    /// The rank, and its host.
    Rank {
        /// MPI rank.
        rank: i64,
        /// Name of the host on which the rank ran.
        host: &'a [u8],
    },
    /// How many writes and reads follow.
    Counts(u64, u64),
    /// A module kept only a part of what there was.
    Incomplete(&'a [u8]),
    /// The data of a module follow.
    Module(&'a [u8]),
    /// The log holds no traces at all.
    NoTraces,
    /// Something else that is known; of what kind.
    Known(&'static str),
    /// Something that is not known.
    Unknown,
}

/// A read or a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The interface at which it was seen.
    pub layer: Layer,
    /// The rank that made it.
    pub rank: i64,
    /// Whether it wrote.
    pub writes: bool,
    /// Where it began, if the log has it.
    pub offset: Option<i64>,
    /// How many bytes.
    pub length: i64,
    /// When it began, since the start of the job.
    pub start: Nanos,
    /// When it ended.
    pub end: Nanos,
    /// The unit of these times.
    pub unit: Nanos,
    /// The thread, as the program's library numbers it; logs before 3.4.3 lack it.
    pub thread: Option<u64>,
}

/// What the first line of the text begins with.
pub(crate) const MAGIC: &[u8] = b"# darshan log version:";

impl<'a> Line<'a> {
    /// Reads a line without its end.
    #[must_use]
    pub fn read(line: &'a [u8]) -> Self {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let text = line.trim_ascii_start();
        match text.first() {
            None => Self::Known("blank"),
            Some(b'X') => Segment::read(text).map_or(Self::Unknown, Self::Segment),
            Some(b'#') => Self::comment(&text[1..]),
            Some(_) => Self::Unknown,
        }
    }

    fn comment(text: &'a [u8]) -> Self {
        let text = text.strip_prefix(b" ").unwrap_or(text);
        if let Some(text) = text.strip_prefix(b"DXT, ") {
            return Self::dxt(text).unwrap_or(Self::Unknown);
        }
        if text.starts_with(b"\t[Component ") {
            return Self::Known("lustre");
        }
        if let Some(module) = text.strip_prefix(b"*WARNING*: The ")
            && let Some(end) = module.find(b" module contains incomplete data!")
        {
            return Self::Incomplete(&module[..end]);
        }
        if let Some(module) = text.strip_suffix(b" module data").filter(|module| is_key(module)) {
            return Self::Module(module);
        }
        if text.starts_with(b"no DXT module data available") {
            return Self::NoTraces;
        }
        if text.starts_with(b"mount entry:") || text.starts_with(b"mounted file systems") {
            return Self::Known("mount");
        }
        match text.split_once_str(": ") {
            Some((key, value)) if is_key(key) => Self::Job { key, value: value.trim_ascii_end() },
            _ => Self::Known("comment"),
        }
    }

    /// What is said of a file.
    fn dxt(text: &'a [u8]) -> Option<Self> {
        if let Some(rest) = text.strip_prefix(b"file_id: ") {
            let (id, name) = rest.split_once_str(", file_name: ")?;
            id.iter().all(u8::is_ascii_digit).then_some(())?;
            return Some(Self::File(Some(name).filter(|name| !name.is_empty() && *name != b"(null)")));
        }
        if let Some(rest) = text.strip_prefix(b"rank: ") {
            let (rank, host) = rest.split_once_str(", hostname: ")?;
            return Some(Self::Rank { rank: number(rank)?, host });
        }
        if let Some(rest) = text.strip_prefix(b"write_count: ") {
            let (writes, reads) = rest.split_once_str(", read_count: ")?;
            let counts = [number::<u64>(writes)?, number(reads)?];
            // Darshan counts in signed numbers of 64 bits.
            let [writes, reads] =
                counts.map(|count| Some(count).filter(|count| i64::try_from(*count).is_ok()));
            return Some(Self::Counts(writes?, reads?));
        }
        let known = [(&b"number of threads: "[..], "file"), (b"mnt_pt: ", "file"), (b"Lustre ", "lustre")];
        let kind = known.into_iter().find(|(start, _)| text.starts_with(start))?;
        Some(Self::Known(kind.1))
    }
}

/// Words of a header are short.
fn is_key(key: &[u8]) -> bool {
    !key.is_empty()
        && key.len() <= 40
        && key.iter().all(|byte| byte.is_ascii_alphanumeric() || b" _-<>".contains(byte))
}

fn number<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    text.trim_ascii().to_str().ok()?.parse().ok()
}

impl Segment {
    /// ` X_POSIX       0  write        0               0            4096      0.0032      0.0032   140230499855872`; of files on
    /// Lustre the servers, ` [3] [4]`, come before the thread.
    fn read(text: &[u8]) -> Option<Self> {
        let mut words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let layer = match words.next()? {
            b"X_POSIX" => Layer::Posix,
            b"X_MPIIO" => Layer::Mpiio,
            _ => return None,
        };
        let rank = number(words.next()?)?;
        let writes = match words.next()? {
            b"write" => true,
            b"read" => false,
            _ => return None,
        };
        let _segment: u64 = number(words.next()?)?;
        let offset: i64 = number(words.next()?)?;
        let length: i64 = number(words.next()?).filter(|length| *length >= 0)?;
        let ((start, unit), (end, _)) = (seconds(words.next()?)?, seconds(words.next()?)?);
        let mut thread = None;
        for word in words {
            match word {
                b"N/A" => {}
                [b'[', server @ .., b']'] => number::<i64>(server).map(|_| ())?,
                [b'['] | [b']'] => {}
                _ if word.ends_with(b"]") => number::<i64>(&word[..word.len() - 1]).map(|_| ())?,
                _ if thread.is_none() => thread = Some(number(word)?),
                _ => return None,
            }
        }
        let offset = Some(offset).filter(|offset| *offset >= 0);
        Some(Self { layer, rank, writes, offset, length, start, end, unit, thread })
    }
}

/// Seconds with a fraction, and the unit of their last digit.
fn seconds(text: &[u8]) -> Option<(Nanos, Nanos)> {
    let (whole, fraction) = text.split_once_str(".")?;
    let digits = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    (digits(whole) && digits(fraction)).then_some(())?;
    let unit = 10_i64.pow(9_usize.checked_sub(fraction.len())? as u32);
    let nanos = number::<i64>(fraction)? * unit;
    let nanos = number::<i64>(whole)?.checked_mul(1_000_000_000)?.checked_add(nanos)?;
    Some((Nanos(nanos), Nanos(unit)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_say_what_darshan_prints() {
        let read = |line: &'static str| Line::read(line.as_bytes());
        assert_eq!(read("# exe: ./p x "), Line::Job { key: b"exe", value: b"./p x" });
        assert_eq!(read("# DXT, file_id: 7, file_name: /a, b: c"), Line::File(Some(b"/a, b: c")));
        assert_eq!(read("# DXT, file_id: 7, file_name: (null)"), Line::File(None));
        assert_eq!(read("# DXT, rank: 12, hostname: n1.x"), Line::Rank { rank: 12, host: b"n1.x" });
        assert_eq!(read("# DXT, write_count: 6, read_count: 4"), Line::Counts(6, 4));
        assert_eq!(read("# DXT, write_count: 18446744073709551615, read_count: 0"), Line::Unknown);
        assert_eq!(read("# DXT, write_count: 0, read_count: 9223372036854775808"), Line::Unknown);
        assert_eq!(read("# DXT, what: 6"), Line::Unknown);
        assert_eq!(read("# DXT, Lustre OST obdidx: 1 2"), Line::Known("lustre"));
        assert_eq!(read("#\t[Component 1] stripe_ext: 0 - EOF, stripe_size: 1"), Line::Known("lustre"));
        assert_eq!(read(""), Line::Known("blank"));
        assert_eq!(read("no comment"), Line::Unknown);
        let warning = "# *WARNING*: The DXT_POSIX module contains incomplete data!";
        assert_eq!(read(warning), Line::Incomplete(b"DXT_POSIX"));
    }

    #[test]
    fn a_transfer_has_ten_columns_and_may_name_servers() {
        let plain = " X_POSIX       0  write        5          100000            1000      0.0032      1.0033   140230499855872";
        let Line::Segment(segment) = Line::read(plain.as_bytes()) else { panic!("a transfer") };
        let expected = Segment {
            layer: Layer::Posix,
            rank: 0,
            writes: true,
            offset: Some(100_000),
            length: 1000,
            start: Nanos(3_200_000),
            end: Nanos(1_003_300_000),
            unit: Nanos(100_000),
            thread: Some(140_230_499_855_872),
        };
        assert_eq!(segment, expected);
        let line = " X_MPIIO 3 read 0 -1 65536 0.0084 0.0085   [3] [ 12]   N/A";
        let Line::Segment(segment) = Line::read(line.as_bytes()) else { panic!("a transfer") };
        assert_eq!((segment.layer, segment.offset, segment.thread), (Layer::Mpiio, None, None));
        for wrong in
            ["X_POSIX 0 write 0 0 10 0.1", "X_HDF5 0 write 0 0 10 0.1 0.2", "X_POSIX 0 write 0 0 -5 0.1 0.2"]
        {
            assert_eq!(Line::read(wrong.as_bytes()), Line::Unknown, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_line_of_one_kind(line in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Line::read(&line);
        }

        #[test]
        fn what_is_nearly_a_line_of_darshan_is_a_line_of_one_kind(
            line in "(#|# )?(DXT, )?(file_id: |rank: |, hostname: |, file_name: |X_POSIX |X_MPIIO |read |write |[-0-9.]{1,20} |\\[[0-9]{0,3}\\]|N/A){0,14}"
        ) {
            let _ = Line::read(line.as_bytes());
        }
    }
}
