//! The log that Darshan itself writes, as the text that `darshan-dxt-parser` makes of it.
//!
//! A log begins with a header, which says where its regions are: the job, the names of files, and one region for each module. Regions are
//! compressed on their own, those of parallel jobs in one stream for each rank, one behind the other. Structures are those of
//! C on the machine that wrote the log (`darshan-log-format.h`, `darshan-dxt-log-format.h`). Times come with more digits
//! than the parser prints.

use flate2::bufread::{MultiGzDecoder, ZlibDecoder};
use hashbrown::HashMap;
use iotrail_import::Window;
use std::io::{self, BufReader, Read};

/// What stands behind the version, in the order of bytes of the machine that wrote the log.
const MAGIC: u64 = 6_567_223;
/// The job, the command line and the mounted file systems together.
const JOB_BYTES: u64 = 4096;
/// What a job says of its settings.
const METADATA_BYTES: usize = 1024;
const HOST_BYTES: usize = 64;

/// Whether a file that begins like this is a log.
pub(crate) fn is_log(head: &[u8]) -> bool {
    Order::of(head).is_some()
}

/// Moves what is unread to `log`; whether more may come.
pub(crate) fn collect(window: &mut Window, log: &mut Vec<u8>) -> bool {
    log.extend_from_slice(window.unread());
    window.consume(window.unread().len());
    !window.ended()
}

/// Calls `take` with each line of the text of a log. Nothing comes of what is not a log, or of a version or compression that is not known: then the answer is `None`.
pub(crate) fn lines(log: &[u8], mut take: impl FnMut(&[u8])) -> Option<()> {
    let log = Log::read(log)?;
    log.job(&mut take)?;
    let names = log.names();
    let modules = log.layout.modules();
    for module in &modules {
        if log.is_there(module) {
            let (bytes, version) = (log.region(module.index).1, log.version(module));
            take(format!("# {} module: {bytes} bytes (compressed), ver={version}", module.name).as_bytes());
        }
    }
    if !modules.iter().any(|module| log.is_there(module)) {
        take(b"# no DXT module data available for this Darshan log.");
    }
    for module in modules.iter().filter(|module| log.is_there(module)) {
        take(format!("# {} module data", module.name).as_bytes());
        if log.is_partial(module) {
            let what = format!("# *WARNING*: The {} module contains incomplete data!", module.name);
            take(what.as_bytes());
        }
        if log.records(module, &names, &mut take).is_none() {
            take(format!("the data of the module {} are damaged", module.name).as_bytes());
        }
    }
    Some(())
}

/// The order of bytes of the machine that wrote a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Little,
    Big,
}

impl Order {
    fn of(head: &[u8]) -> Option<Self> {
        let magic: [u8; 8] = head.get(8..16)?.try_into().ok()?;
        match MAGIC {
            number if number == u64::from_le_bytes(magic) => Some(Self::Little),
            number if number == u64::from_be_bytes(magic) => Some(Self::Big),
            _ => None,
        }
    }

    fn number(self, bytes: &[u8], at: usize) -> Option<u64> {
        let bytes: [u8; 8] = bytes.get(at..)?.get(..8)?.try_into().ok()?;
        Some(if self == Self::Little { u64::from_le_bytes(bytes) } else { u64::from_be_bytes(bytes) })
    }

    fn short(self, bytes: &[u8], at: usize) -> Option<u32> {
        let bytes: [u8; 4] = bytes.get(at..)?.get(..4)?.try_into().ok()?;
        Some(if self == Self::Little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    }
}

/// Where a version of the format has what.
#[derive(Clone, Copy, Debug)]
struct Layout {
    /// Modules that the header has room for.
    modules: usize,
    /// The region of the names; those of the modules follow, and then their versions.
    regions: usize,
    /// The number of the first of the two modules of traces.
    traces: usize,
    /// Numbers of 64 bits at the start of the job's record.
    job_numbers: usize,
}

/// A module of traces.
struct Module {
    index: usize,
    name: &'static str,
    word: &'static str,
    /// The latest known version of its records, the first one with threads, and the first one with offsets.
    versions: [u32; 3],
}

impl Layout {
    const fn of(version: &[u8]) -> Option<Self> {
        let old = Self { modules: 16, regions: 24, traces: 8, job_numbers: 5 };
        match version {
            b"3.10" => Some(old),
            b"3.20" | b"3.21" => Some(Self { traces: 9, ..old }),
            b"3.41" => Some(Self { modules: 64, regions: 32, traces: 10, job_numbers: 7 }),
            _ => None,
        }
    }

    const fn modules(&self) -> [Module; 2] {
        let posix = Module { index: self.traces, name: "DXT_POSIX", word: "X_POSIX", versions: [2, 2, 1] };
        let mpiio =
            Module { index: self.traces + 1, name: "DXT_MPIIO", word: "X_MPIIO", versions: [3, 3, 2] };
        [posix, mpiio]
    }

    /// Where the regions of modules are; their versions.
    const fn versions(&self) -> usize {
        self.regions + 16 * (1 + self.modules)
    }

    /// The length of the header.
    const fn end(&self) -> usize {
        self.versions() + 4 * self.modules
    }
}

/// A log in memory.
struct Log<'a> {
    bytes: &'a [u8],
    order: Order,
    layout: Layout,
    compression: Compression,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compression {
    Zlib,
    None,
}

impl<'a> Log<'a> {
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let order = Order::of(bytes)?;
        let layout = Layout::of(until_nul(bytes.get(..8)?))?;
        bytes.get(..layout.end())?;
        let compression = match bytes[16] {
            0 => Compression::Zlib,
            2 => Compression::None,
            _ => return None,
        };
        Some(Self { bytes, order, layout, compression })
    }

    /// Start and length of the region at a place of the header; -1 is that of the names.
    fn region_at(&self, place: usize) -> (u64, u64) {
        let number = |at| self.order.number(self.bytes, at).unwrap_or_default();
        (number(place), number(place + 8))
    }

    fn names_region(&self) -> (u64, u64) {
        self.region_at(self.layout.regions)
    }

    fn region(&self, module: usize) -> (u64, u64) {
        self.region_at(self.layout.regions + 16 * (1 + module))
    }

    fn version(&self, module: &Module) -> u32 {
        self.order.short(self.bytes, self.layout.versions() + 4 * module.index).unwrap_or_default()
    }

    fn is_there(&self, module: &Module) -> bool {
        self.region(module.index).1 > 0
    }

    /// Whether a module had no room for everything.
    fn is_partial(&self, module: &Module) -> bool {
        let flags = match self.layout.modules {
            64 => self.order.number(self.bytes, 24),
            _ => self.order.short(self.bytes, 20).map(u64::from),
        };
        flags.is_some_and(|flags| flags >> module.index & 1 == 1)
    }

    /// The text of a region, which may lie anywhere.
    fn open(&self, (start, length): (u64, u64)) -> Option<Box<dyn Read + 'a>> {
        let start = usize::try_from(start).ok()?;
        let end = start.checked_add(usize::try_from(length).ok()?)?;
        let bytes = self.bytes.get(start..end.min(self.bytes.len()))?;
        Some(match self.compression {
            Compression::None => Box::new(bytes),
            Compression::Zlib if bytes.starts_with(&[0x1f, 0x8b]) => Box::new(MultiGzDecoder::new(bytes)),
            Compression::Zlib => Box::new(Streams(Some(ZlibDecoder::new(bytes)))),
        })
    }

    /// The job: a record of numbers, its settings, the command line.
    fn job(&self, take: &mut impl FnMut(&[u8])) -> Option<()> {
        let first = self.layout.end() as u64;
        let regions =
            [self.names_region().0].into_iter().chain((0..self.layout.modules).map(|at| self.region(at).0));
        let end = regions.filter(|start| *start > first).min().unwrap_or(self.bytes.len() as u64);
        let mut record = Vec::new();
        // The end of what is cut is missing in the list of file systems, which nobody asks for.
        let _ = self.open((first, end - first))?.take(JOB_BYTES).read_to_end(&mut record);
        let start = self.order.number(&record, 8)?.cast_signed();
        let command = record.get(8 * self.layout.job_numbers + METADATA_BYTES..)?;
        let command = command.split(|byte| *byte == b'\n').next().unwrap_or_default();
        take([b"# darshan log version: ", until_nul(self.bytes.get(..8)?)].concat().as_slice());
        take([b"# exe: ", until_nul(command)].concat().as_slice());
        take(format!("# start_time: {start}").as_bytes());
        Some(())
    }

    /// Names of files by the numbers of their records. Those behind damage are unknown.
    fn names(&self) -> HashMap<u64, Vec<u8>> {
        let mut names = HashMap::new();
        let mut text = Vec::new();
        if let Some(mut region) = self.open(self.names_region()) {
            let _ = region.read_to_end(&mut text);
        }
        let mut rest = &text[..];
        while let Some(id) = self.order.number(rest, 0)
            && let Some(length) = rest[8..].iter().position(|byte| *byte == 0)
        {
            let name = &rest[8..8 + length];
            let known: &mut Vec<u8> = names.entry(id).or_default();
            if known.is_empty() {
                *known = name.to_vec();
            }
            rest = &rest[8 + length + 1..];
        }
        names
    }

    /// The transfers of each file by each rank. `None` if they end in the middle of one.
    fn records(
        &self,
        module: &Module,
        names: &HashMap<u64, Vec<u8>>,
        take: &mut impl FnMut(&[u8]),
    ) -> Option<()> {
        let version = self.version(module);
        if version == 0 || version > module.versions[0] {
            return None;
        }
        let mut region = BufReader::new(self.open(self.region(module.index))?);
        let mut record = [0; 24 + HOST_BYTES + 16];
        loop {
            match filled(&mut region, &mut record)? {
                0 => return Some(()),
                length if length < record.len() => return None,
                _ => {}
            }
            let number = |at| self.order.number(&record, at).map(u64::cast_signed);
            let (id, rank) = (self.order.number(&record, 0)?, number(8)?);
            let counts = [number(24 + HOST_BYTES)?, number(32 + HOST_BYTES)?];
            let name = names.get(&id).map_or(&b"(null)"[..], Vec::as_slice);
            take(&[format!("# DXT, file_id: {id}, file_name: ").as_bytes(), name].concat());
            let host = until_nul(&record[24..24 + HOST_BYTES]);
            take(&[format!("# DXT, rank: {rank}, hostname: ").as_bytes(), host].concat());
            take(format!("# DXT, write_count: {}, read_count: {}", counts[0], counts[1]).as_bytes());
            for (word, count) in ["write", "read"].into_iter().zip(counts) {
                for at in 0..count {
                    let segment = self.segment(&mut region, module, version)?;
                    take(format!(" {} {rank} {word} {at} {segment}", module.word).as_bytes());
                }
            }
        }
    }

    /// Offset, length, start, end and thread of the next transfer.
    fn segment(&self, region: &mut impl Read, module: &Module, version: u32) -> Option<String> {
        let [_, with_threads, with_offsets] = module.versions;
        let mut bytes = [0; 40];
        let used = if version >= with_threads { 40 } else { 32 };
        region.read_exact(&mut bytes[..used]).ok()?;
        let number = |at| self.order.number(&bytes, at);
        let offset = if version >= with_offsets { number(0)?.cast_signed() } else { -1 };
        let length = number(8)?.cast_signed();
        let [start, end] = [f64::from_bits(number(16)?), f64::from_bits(number(24)?)];
        let thread = if used == 40 { number(32)?.to_string() } else { "N/A".to_owned() };
        Some(format!("{offset} {length} {start:.9} {end:.9} {thread}"))
    }
}

/// What comes before the first zero.
fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// Reads until `bytes` are full, or nothing more comes; how many came. `None` if it cannot be read.
fn filled(from: &mut impl Read, bytes: &mut [u8]) -> Option<usize> {
    let mut done = 0;
    while done < bytes.len() {
        match from.read(&mut bytes[done..]).ok()? {
            0 => break,
            count => done += count,
        }
    }
    Some(done)
}

/// Compressed streams one behind the other.
struct Streams<'a>(Option<ZlibDecoder<&'a [u8]>>);

impl Read for Streams<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        while let Some(stream) = &mut self.0 {
            let count = stream.read(bytes)?;
            if count > 0 || bytes.is_empty() {
                return Ok(count);
            }
            let rest = *stream.get_ref();
            self.0 = (!rest.is_empty()).then(|| ZlibDecoder::new(rest));
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Logs of the same four ranks in two versions of the format.
    const LOGS: [&[u8]; 2] = [
        include_bytes!("../../../tests/fixtures/darshan/ior-321.darshan"),
        include_bytes!("../../../tests/fixtures/darshan/ior-341.darshan"),
    ];

    fn text(log: &[u8]) -> Option<Vec<String>> {
        let mut text = Vec::new();
        lines(log, |line| text.push(String::from_utf8_lossy(line).into_owned()))?;
        Some(text)
    }

    #[test]
    fn compressed_streams_may_follow_one_another() {
        let stream = |text: &[u8]| {
            let mut stream = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
            io::Write::write_all(&mut stream, text).unwrap();
            stream.finish().unwrap()
        };
        let both = [stream(b"one "), stream(b""), stream(b"two")].concat();
        let read = |bytes| io::read_to_string(Streams(Some(ZlibDecoder::new(bytes))));
        assert_eq!(read(&both).unwrap(), "one two");
        assert!(read(&both[..both.len() - 6]).is_err());
    }

    #[test]
    fn other_versions_and_compressions_are_not_read() {
        for (at, byte) in [(2, b'9'), (8, 0), (16, 1)] {
            let mut log = LOGS[1].to_vec();
            log[at] = byte;
            assert_eq!(text(&log), None, "{at}");
        }
    }

    #[test]
    fn a_log_that_was_cut_gives_what_is_there_and_says_so() {
        for log in LOGS {
            let whole = text(log).unwrap();
            assert!(whole.iter().all(|line| !line.ends_with("are damaged")));
            let cut = text(&log[..log.len() - 300]).unwrap();
            let (last, rest) = cut.split_last().unwrap();
            assert_eq!(last, "the data of the module DXT_MPIIO are damaged");
            assert!(rest.len() > 20 && whole.starts_with(rest), "{}", rest.len());
        }
    }

    proptest! {
        #[test]
        fn bytes_that_are_anything_are_read_to_their_end_at_most(
            which in 0..LOGS.len(),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
            length in any::<prop::sample::Index>(),
        ) {
            let mut log = LOGS[which].to_vec();
            for (at, byte) in changes {
                // Mostly in the header.
                let at = if byte % 4 == 0 { at.index(log.len()) } else { 16 + at.index(1300) };
                log[at] = byte;
            }
            log.truncate(log.len() - length.index(64));
            let _ = text(&log);
        }
    }
}
