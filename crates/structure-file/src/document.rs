//! A structure with all that it is of.

use crate::container::{Content, pack, unpack};
use crate::error::FileError;
use crate::reader::Reader;
use crate::section::Section;
use crate::times::ItemTimes;
use crate::tree::References;
use crate::writer::Writer;
use crate::{drawn, names, records, sites, sparse, tables, threads, times, tree};
use hashbrown::HashMap;
use iotrail_model::{
    CallId, Case, CaseId, Coverage, ErrnoId, FileRow, FlagsId, Layer, Names, Nullable, Pid, Process,
    RecordingCoverage, Site, SiteId, Tid, Timestamp,
};
use iotrail_structure::{DrawnColumns, Precision, Resolution, Structure};
use iotrail_trail::Capture;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

type Result<T> = std::result::Result<T, FileError>;

/// What events of an item have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallKey {
    /// Interface at which the call was seen.
    pub layer: Layer,
    /// Its name.
    pub call: CallId,
    /// How it failed.
    pub errno: Nullable<ErrnoId>,
    /// With which flags.
    pub flags: Nullable<FlagsId>,
    /// What it acts on, which tells loops apart: a group of files, or a program that starts up; one of
    /// [`Document::roles`].
    pub role: Option<u32>,
    /// Where it is called from: one of [`Document::sites`].
    pub site: Nullable<SiteId>,
}

/// A thread: its events are one sequence. The number of a line is the rank that the structure knows it by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The case of its events.
    pub case: CaseId,
    /// Its process.
    pub pid: Pid,
    /// The thread.
    pub tid: Tid,
    /// The rank of its process, or the number of the process where there are no ranks.
    pub rank: u32,
    /// When its first event began.
    pub start: Timestamp,
    /// Number of its events.
    pub events: u32,
}

/// What a structure is of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// Version of the iotrail that wrote it.
    pub tool_version: String,
    /// The trails, by name.
    pub trails: Vec<String>,
    /// How the events were captured.
    pub capture: Capture,
    /// What the events cover.
    pub coverage: Coverage,
    /// How exact times are, in percent; 100 is every one.
    pub time_precision: u8,
    /// Most buckets of a histogram of times; NULL: any number.
    pub buckets: Option<u32>,
    /// Columns of the items that are events.
    pub columns: usize,
    /// How exact counts, sizes and offsets are, in percent; NULL is every one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<u8>,
    /// Why all counts are exact all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed_counts: Option<FixedCounts>,
    /// Whether calls stand in another order than they were made.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reordered: bool,
}

/// Why counts, partners and tags of a structure stay exact at any precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FixedCounts {
    /// Some collective call is not made by all ranks, one thread each.
    SomeRanks,
    /// Ranks make a collective call a different number of times.
    Differ,
    /// Ranks wait for each other's windows.
    OneSided,
    /// Calls name others by number that are not around them.
    Parents,
    /// Persistent requests are started, which calls before have made.
    Persistent,
}

impl FixedCounts {
    /// The reason in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::SomeRanks => "a collective call is not made by all ranks",
            Self::Differ => "ranks make a collective call a different number of times",
            Self::OneSided => "ranks wait for each other in one-sided communication",
            Self::Parents => "calls refer to calls of other threads",
            Self::Persistent => "persistent requests are started",
        }
    }
}

impl About {
    /// Whether every time is kept.
    #[must_use]
    pub fn has_every_time(&self) -> bool {
        self.time_precision == Precision::EXACT.percent()
    }

    /// How exact counts, sizes and offsets are.
    #[must_use]
    pub fn value_precision(&self) -> Precision {
        self.precision.and_then(|percent| Precision::new(percent.into()).ok()).unwrap_or(Precision::EXACT)
    }

    /// How fine distributions of counts, sizes and offsets are.
    #[must_use]
    pub fn value_resolution(&self) -> Resolution {
        Resolution::of(self.value_precision(), self.buckets)
    }

    /// JSON, without the counts that are 0 and what else is as in any statement of coverage.
    fn content(&self) -> Result<Content> {
        let json = serde_json::to_value(self).and_then(|mut value| {
            sparse::without(&mut value, &Self::usual()?);
            serde_json::to_vec(&value)
        });
        let bytes = json.map_err(|_| FileError::TooMany { what: "texts" })?;
        Ok(bytes.into())
    }

    fn read(input: &mut Reader<'_>) -> Result<Self> {
        let json: serde_json::Result<Self> = serde_json::from_slice(input.rest()).and_then(|mut value| {
            sparse::with(&mut value, &Self::usual()?);
            serde_json::from_value(value)
        });
        json.map_err(|error| input.error(error, "the JSON of this section"))
    }

    fn usual() -> serde_json::Result<Value> {
        let coverage = Coverage { recording: Some(RecordingCoverage::default()), ..Coverage::default() };
        serde_json::to_value(Self { coverage, ..Self::default() })
    }

    /// How fine histograms of times are.
    #[must_use]
    pub fn resolution(&self) -> Resolution {
        let precision = Precision::new(self.time_precision.into()).unwrap_or(Precision::EXACT);
        Resolution::of(precision, self.buckets)
    }
}

/// A structure, complete: what a file of it holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// What it is of.
    pub about: About,
    /// The dictionaries of all the rest.
    pub names: Names,
    /// What keys act on.
    pub roles: Vec<Arc<str>>,
    /// Call sites by their number.
    pub sites: Vec<Site>,
    /// Keys by the number that the structure knows them by.
    pub keys: Vec<CallKey>,
    /// Lines by their number.
    pub lines: Vec<Line>,
    /// The loop tree of the lines with what changes in it.
    pub structure: Structure,
    /// Times of each item of the structure; empty where every time is kept.
    pub times: Vec<ItemTimes>,
    /// The table `cases`.
    pub cases: Vec<Case>,
    /// The table `processes`.
    pub processes: Vec<Process>,
    /// The table `files`.
    pub files: Vec<FileRow>,
}

impl Document {
    /// The file of the structure.
    ///
    /// # Errors
    /// A part of it refers to what it has not.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let (tree, ranks) = tree::write(&self.structure);
        let mut files = Writer::default();
        tables::write_files(&self.files, &self.names, &mut files)?;
        let with = |fill: &dyn Fn(&mut Writer)| {
            let mut out = Writer::default();
            fill(&mut out);
            Content::from(out)
        };
        let mut sections = vec![
            (Section::About, self.about.content()?),
            (Section::Cases, records::write(&self.cases, &[])?),
            (Section::Processes, records::write(&self.processes, &ranks_of(&self.cases))?),
            (Section::Names, with(&|out| names::write(&self.names, &self.roles, out))),
            (Section::Keys, with(&|out| tables::write_keys(&self.keys, out))),
            (Section::Threads, with(&|out| threads::write(&self.lines, &self.cases, &self.processes, out))),
            (Section::Ranks, ranks.into()),
            (Section::Tree, tree.into()),
            (Section::Histograms, with(&|out| times::write(&self.times, out))),
            (Section::Files, files.into()),
        ];
        if self.about.precision.is_some() {
            sections.push((Section::Drawn, with(&|out| drawn::write(self.structure.drawn(), out))));
        }
        if !self.sites.is_empty() {
            let content = with(&|out| sites::write(&self.sites, &self.keys, out));
            let expanded = sites::expanded(&self.sites);
            sections.push((Section::Sites, Content { expanded, ..content }));
        }
        Ok(pack(&sections))
    }

    /// The structure of a file.
    ///
    /// # Errors
    /// The first place that is not as the format says.
    pub fn of_bytes(file: &[u8]) -> Result<Self> {
        let sections = Sections(unpack(file)?);
        let about = sections.read(Section::About, About::read)?;
        let cases: Vec<Case> = sections.read(Section::Cases, |input| records::read(input, &[]))?;
        if let Some(row) = (0..cases.len()).find(|row| cases[*row].id.index() != *row) {
            let found = format_args!("case_id {} in row {row}", cases[row].id);
            return Err(sections.reader(Section::Cases)?.error(found, row));
        }
        let processes: Vec<Process> =
            sections.read(Section::Processes, |input| records::read(input, &ranks_of(&cases)))?;
        if let Some(process) = processes.iter().find(|process| process.case.index() >= cases.len()) {
            let found = format_args!("process {} of case {}", process.pid, process.case);
            let expected = format_args!("one of {} cases", cases.len());
            return Err(sections.reader(Section::Processes)?.error(found, expected));
        }
        let (names, roles) = sections.read(Section::Names, names::read)?;
        let mut keys = sections.read(Section::Keys, |input| tables::read_keys(input, &names, roles.len()))?;
        let sites = match sections.has(Section::Sites) {
            true => sections.read(Section::Sites, |input| sites::read(input, &mut keys))?,
            false => Vec::new(),
        };
        let lines = match sections.has(Section::Lines) {
            true => sections.read(Section::Lines, |input| tables::read_lines(input, cases.len()))?,
            false => sections.read(Section::Threads, |input| threads::read(input, &cases, &processes))?,
        };
        let events = lines.iter().map(|line| u64::from(line.events)).fold(0, u64::saturating_add);
        if events > u32::MAX.into() {
            let section = if sections.has(Section::Lines) { Section::Lines } else { Section::Threads };
            let expected = format_args!("at most {}", u32::MAX);
            return Err(sections.reader(section)?.error(format_args!("{events} events"), expected));
        }
        let ranks = sections.read(Section::Ranks, |input| tree::read_ranks(input, lines.len() as u32))?;
        let references =
            References { keys: keys.len(), columns: about.columns, lines: lines.len() as u32, ranks: &ranks };
        let (items, root) = sections.read(Section::Tree, |input| tree::read(input, &references))?;
        let resolution = about.value_resolution();
        let drawn = match about.precision {
            Some(_) => sections.read(Section::Drawn, |input| drawn::read(input, &items, resolution))?,
            None => DrawnColumns::new(),
        };
        let structure = Structure::of_parts(items, root, drawn);
        let items = if about.has_every_time() { 0 } else { structure.items().len() };
        let times =
            match sections.has(Section::Times) {
                true => sections
                    .read(Section::Times, |input| times::read_plain(input, items, about.resolution()))?,
                false => sections
                    .read(Section::Histograms, |input| times::read(input, items, about.resolution()))?,
            };
        let files = sections.read(Section::Files, |input| tables::read_files(input, &names, cases.len()))?;
        Ok(Self { about, names, roles, sites, keys, lines, structure, times, cases, processes, files })
    }

    /// Number of events.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.lines.iter().map(|line| u64::from(line.events)).sum()
    }
}

/// The rank of the processes of each case.
fn ranks_of(cases: &[Case]) -> Vec<Option<i64>> {
    cases.iter().map(|case| threads::rank(case).map(i64::from)).collect()
}

struct Sections(HashMap<Section, Content>);

impl Sections {
    fn has(&self, section: Section) -> bool {
        self.0.contains_key(&section)
    }

    fn reader(&self, section: Section) -> Result<Reader<'_>> {
        let missing = || FileError::Index {
            byte: 0,
            found: format!("no section `{section}`"),
            expected: "one".to_owned(),
        };
        let content = self.0.get(&section).ok_or_else(missing)?;
        Ok(Reader::new(section, content))
    }

    fn read<T>(&self, section: Section, read: impl FnOnce(&mut Reader<'_>) -> Result<T>) -> Result<T> {
        let mut reader = self.reader(section)?;
        let value = read(&mut reader)?;
        reader.end()?;
        Ok(value)
    }
}
