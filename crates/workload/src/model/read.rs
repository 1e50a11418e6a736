//! Model files, read and checked as a whole.

use super::names::collision;
use super::quantity::{BYTES_EXPECTED, TIME_EXPECTED, TIMES, bytes, time};
use super::read_statistics::{RawStatistics, share};
use super::synthesis::spread;
use super::{
    CALLS, FileKind, MessageHalf, Mode, Model, ModelError, ModelFile, ModelSession, NameCall, OffsetLaw,
    Partner, ProgramStep, REQUESTS, RankGroup, Ratio, RequestKind, SessionLayer, Sharing, VERSION, locks_fit,
    rounds, takes_locks,
};
use iotrail_model::text::printable;
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use toml::Spanned;

/// Larger files are refused.
const MAX_TEXT: usize = 1 << 20;
/// Largest count of requests of a kind in a session; more are several sessions.
pub(super) const MAX_REQUESTS: u64 = 1 << 20;
/// Largest number of repetitions.
const MAX_REPEAT: u64 = 1 << 40;
/// Most files; each of them may be one of every rank.
const MAX_FILES: usize = 1 << 12;
/// Most files of one name.
pub(super) const MAX_COUNT: u64 = 1_000_000;
/// Deepest nesting of steps.
const MAX_DEPTH: usize = 16;

const KEYS: &str = "a model has iotrail_workload = 1, ranks, scaling, [[group]] with name and ranks, [[file]] with name, class, kind, count, size, \
                    present, filled, call_slack, times and call_times, [[file.session]] with name, mode, layer, requests, size, write_size, order, offset, write_offset, length, random, slack, duration and counted, and \
                    [program] with steps, or without it [[file.statistics]] and [[barrier]] with ranks and at";
const STEPS: &str = "expected { session = \"FILE/SESSION\", next = N, ranks = \"GROUP\" } or { call = \"stat\", file = \"FILE\", ranks = \"GROUP\" }, where \
                     next and ranks may be left out, { call = \"rename\", file = \"FILE\", to = \"FILE\" }, { after = \"FILE/SESSION\", of = \"GROUP\" (or by = -1, around = -1), ranks = \"GROUP\" }, { message = \"send\", to = \"GROUP\" (or by = 1, around = 1), ranks = \"GROUP\" }, \
                     { message = \"receive\", from = \"GROUP\" (or by = -1, around = -1), ranks = \"GROUP\" }, { barrier = \"GROUP\" }, \
                     { pause = TIME, ranks = \"GROUP\" } or { repeat = N, steps = [...] }";
const CALL_WORDS: &str = "expected stat, unlink (not of a directory), rename, link (of a file), mkdir, rmdir, readdir (of a directory) or open (of what is absent)";
const NAMES: &str = "expected a relative name without empty parts, `.`, `..` and control characters, in which `%r` stands for the \
                     rank and `%i` for the number of one of count files";
pub(super) const MODES: &str =
    "expected ro, wo or rw, then any of create, truncate, append, each once; the last two need wo or rw";
const LAYER_WORDS: &str = "expected posix, mpi-io or collective";
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawModel {
    #[serde(rename = "iotrail_workload")]
    _version: serde::de::IgnoredAny,
    ranks: Option<Spanned<i64>>,
    scaling: Option<Spanned<String>>,
    #[serde(default)]
    group: Vec<RawGroup>,
    #[serde(default)]
    file: Vec<RawFile>,
    program: Option<RawProgram>,
    #[serde(default)]
    barrier: Vec<Spanned<RawPathBarrier>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPathBarrier {
    pub(super) ranks: Spanned<String>,
    pub(super) at: Spanned<toml::Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawGroup {
    name: Spanned<String>,
    ranks: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    name: Spanned<String>,
    class: Spanned<String>,
    kind: Option<Spanned<String>>,
    count: Option<Spanned<i64>>,
    size: Option<Spanned<toml::Value>>,
    #[serde(default)]
    present: bool,
    call_slack: Option<Spanned<toml::Value>>,
    times: Option<Spanned<String>>,
    call_times: Option<Spanned<String>>,
    #[serde(default)]
    filled: bool,
    #[serde(default)]
    session: Vec<RawSession>,
    #[serde(default)]
    statistics: Vec<Spanned<RawStatistics>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSession {
    name: Spanned<String>,
    mode: Spanned<String>,
    layer: Option<Spanned<String>>,
    requests: Spanned<BTreeMap<String, Spanned<i64>>>,
    size: Option<Spanned<toml::Value>>,
    write_size: Option<Spanned<toml::Value>>,
    offset: Option<Spanned<toml::Value>>,
    random: Option<Spanned<String>>,
    write_offset: Option<Spanned<toml::Value>>,
    length: Option<Spanned<toml::Value>>,
    order: Option<Spanned<Vec<String>>>,
    slack: Option<Spanned<toml::Value>>,
    duration: Option<Spanned<toml::Value>>,
    counted: Option<Spanned<i64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawProgram {
    steps: Vec<Spanned<RawStep>>,
}

#[derive(Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStep {
    repeat: Option<Spanned<i64>>,
    steps: Option<Vec<Spanned<RawStep>>>,
    session: Option<Spanned<String>>,
    next: Option<Spanned<i64>>,
    call: Option<Spanned<String>>,
    file: Option<Spanned<String>>,
    ranks: Option<Spanned<String>>,
    barrier: Option<Spanned<String>>,
    pause: Option<Spanned<toml::Value>>,
    after: Option<Spanned<String>>,
    of: Option<Spanned<String>>,
    by: Option<Spanned<i64>>,
    around: Option<Spanned<i64>>,
    message: Option<Spanned<String>>,
    to: Option<Spanned<String>>,
    from: Option<Spanned<String>>,
}

impl Model {
    /// Reads a model file.
    ///
    /// # Errors
    /// If it is not one; the error names the place.
    pub fn parse(text: &str) -> Result<Self, ModelError> {
        let source = Source(text);
        if text.len() > MAX_TEXT {
            return Err(source.error(0..0, "the file is larger than 1 MiB", KEYS));
        }
        source.check_version()?;
        let raw: RawModel = toml::from_str(text).map_err(|error| source.toml_error(&error))?;
        let groups = source.groups(&raw.group)?;
        let files = source.files(&raw.file, &groups)?;
        let names = Names::of(&source, &groups, &files);
        let (ranks, strong) = source.scaling(&raw)?;
        source.check_layers(&raw, &groups)?;
        let Some(program) = &raw.program else {
            let path = raw.barrier.iter().map(|barrier| source.path_barrier(barrier, &groups));
            let path = Some(path.collect::<Result<_, _>>()?);
            return Ok(Self { ranks, strong, groups, files, steps: Vec::new(), path });
        };
        source.check_no_path(&raw)?;
        let steps = names.steps(&program.steps, 0)?;
        Ok(Self { ranks, strong, groups, files, steps, path: None })
    }
}

pub(super) struct Source<'a>(pub(super) &'a str);

impl Source<'_> {
    pub(super) fn error(&self, span: Range<usize>, problem: &str, expected: &str) -> ModelError {
        let before = self.0.get(..span.start).unwrap_or(self.0);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        ModelError {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            problem: printable(&problem.replace('\n', " ")).into_owned(),
            expected: expected.to_owned(),
        }
    }

    fn toml_error(&self, error: &toml::de::Error) -> ModelError {
        self.error(error.span().unwrap_or(0..0), error.message(), KEYS)
    }

    /// A file of a later version may have fields that are unknown here; that it is one comes first.
    fn check_version(&self) -> Result<(), ModelError> {
        #[derive(Deserialize)]
        struct Version {
            iotrail_workload: Option<Spanned<i64>>,
        }
        let version: Version = toml::from_str(self.0).map_err(|error| self.toml_error(&error))?;
        match version.iotrail_workload {
            None => Err(self.error(0..0, "iotrail_workload is missing", KEYS)),
            Some(version) if *version.get_ref() != VERSION => Err(self.error(
                version.span(),
                &format!("version {} of model files is not known", version.get_ref()),
                "expected iotrail_workload = 1; a newer iotrail may have written the file",
            )),
            Some(_) => Ok(()),
        }
    }

    /// The ranks of the recording, and whether their transfers are dealt.
    fn scaling(&self, raw: &RawModel) -> Result<(Option<u32>, bool), ModelError> {
        let ranks = raw.ranks.as_ref().map(|ranks| {
            let number = u32::try_from(*ranks.get_ref()).ok().filter(|number| *number > 0);
            let problem = || format!("{} ranks", ranks.get_ref());
            number.ok_or_else(|| {
                self.error(ranks.span(), &problem(), "expected the number of ranks of the recording")
            })
        });
        let ranks = ranks.transpose()?;
        match raw.scaling.as_ref().map(|word| (word.get_ref().as_str(), word.span())) {
            None | Some(("weak", _)) => Ok((ranks, false)),
            Some(("strong", span)) if raw.program.is_none() => {
                let expected = "expected [program]: transfers are dealt in the order that it has";
                Err(self.error(span, "strong scaling of a path that is drawn", expected))
            }
            Some(("strong", _)) if ranks.is_some() => Ok((ranks, true)),
            Some(("strong", span)) => {
                let expected = "add ranks = N, how many ranks the sessions are of";
                Err(self.error(span, "strong scaling of an unknown number of ranks", expected))
            }
            Some((word, span)) => {
                Err(self.error(span, &format!("`{word}` is not a way to scale"), "expected weak or strong"))
            }
        }
    }

    /// What only a path that is drawn has is an error beside a program.
    fn check_no_path(&self, raw: &RawModel) -> Result<(), ModelError> {
        let expected = "expected it without [program]: the order is either written down or drawn";
        if let Some(barrier) = raw.barrier.first() {
            return Err(self.error(
                barrier.span(),
                "a barrier of a path that is drawn, beside [program]",
                expected,
            ));
        }
        match raw.file.iter().find_map(|file| file.statistics.first()) {
            Some(statistics) => Err(self.error(statistics.span(), "statistics beside [program]", expected)),
            None => Ok(()),
        }
    }

    /// What is done with calls of MPI-IO is in an order that is written down; what all ranks do together is on one file.
    fn check_layers(&self, raw: &RawModel, groups: &[RankGroup]) -> Result<(), ModelError> {
        let has_all = groups.iter().any(|group| (group.first, group.last) == (0, None));
        let sessions =
            raw.file.iter().flat_map(|file| file.session.iter().map(move |session| (file, session)));
        for (file, word) in sessions.filter_map(|(file, session)| Some((file, session.layer.as_ref()?))) {
            let layer = SessionLayer::named(word.get_ref()).unwrap_or_default();
            let together = layer == SessionLayer::Collective;
            let (problem, expected) = if layer != SessionLayer::System && raw.program.is_none() {
                (
                    "a session of MPI-IO in an order that is drawn",
                    "expected [program] with steps, or layer = \"posix\"",
                )
            } else if together && file.class.get_ref() != "shared" {
                (
                    "a collective session of a file that is not shared",
                    "expected class = \"shared\", or layer = \"mpi-io\"",
                )
            } else if together && !has_all {
                ("a collective session without a group of all ranks", "add [[group]] with ranks = \"0..\"")
            } else {
                continue;
            };
            return Err(self.error(word.span(), problem, expected));
        }
        Ok(())
    }

    fn groups(&self, raw: &[RawGroup]) -> Result<Vec<RankGroup>, ModelError> {
        self.check_unique(raw.iter().map(|group| &group.name))?;
        raw.iter().map(|group| self.group(group)).collect()
    }

    fn group(&self, raw: &RawGroup) -> Result<RankGroup, ModelError> {
        let text = raw.ranks.get_ref();
        let ranks = match text.split_once("..") {
            None => text.parse().ok().map(|rank| (rank, Some(rank))),
            Some((first, "")) => first.parse().ok().map(|first| (first, None)),
            Some((first, last)) => first.parse().ok().zip(last.parse().ok().map(Some)),
        };
        let (first, last) =
            ranks.filter(|&(first, last)| last.is_none_or(|last| last >= first)).ok_or_else(|| {
                let expected = "expected ranks as in \"0..\" (all), \"0\" or \"1..3\" (1, 2 and 3)";
                self.error(raw.ranks.span(), &format!("`{text}` is not a set of ranks"), expected)
            })?;
        Ok(RankGroup { name: raw.name.get_ref().clone(), first, last })
    }

    fn check_unique<'a>(&self, names: impl Iterator<Item = &'a Spanned<String>>) -> Result<(), ModelError> {
        let mut seen = HashMap::new();
        for name in names {
            if name.get_ref().is_empty() || seen.insert(name.get_ref(), ()).is_some() {
                let problem = format!("the name `{}` is empty or there already", name.get_ref());
                return Err(self.error(name.span(), &problem, "expected a name of its own"));
            }
        }
        Ok(())
    }

    fn files(&self, raw: &[RawFile], groups: &[RankGroup]) -> Result<Vec<ModelFile>, ModelError> {
        self.check_unique(raw.iter().map(|file| &file.name))?;
        if let Some(file) = raw.get(MAX_FILES) {
            let expected =
                "expected one private file for the ranks, or one file again and again, in place of many";
            return Err(self.error(file.name.span(), "there are more than 4,096 files", expected));
        }
        let files = raw.iter().map(|file| self.file(file, groups)).collect::<Result<_, _>>()?;
        self.check_apart(raw)?;
        Ok(files)
    }

    fn check_apart(&self, raw: &[RawFile]) -> Result<(), ModelError> {
        let names: Vec<&str> = raw.iter().map(|file| file.name.get_ref().as_str()).collect();
        let Some((one, other)) = collision(&names) else { return Ok(()) };
        let problem = format!(
            "`{}` and `{}` may be one file, or one the directory of the other",
            names[one], names[other]
        );
        Err(self.error(raw[one].name.span(), &problem, "expected names that differ in more than the rank"))
    }

    fn file(&self, raw: &RawFile, groups: &[RankGroup]) -> Result<ModelFile, ModelError> {
        let class = match raw.class.get_ref().as_str() {
            "root" => Sharing::Root,
            "shared" => Sharing::Shared,
            "private" => Sharing::Private,
            other => {
                let problem = format!("`{other}` is not a class");
                return Err(self.error(raw.class.span(), &problem, "expected root, shared or private"));
            }
        };
        self.check_name(&raw.name, class)?;
        let count = self.count(raw)?;
        self.check_unique(raw.session.iter().map(|session| &session.name))?;
        let kind = match raw.kind.as_ref().map(|kind| (kind.get_ref().as_str(), kind.span())) {
            None | Some(("file", _)) => FileKind::File,
            Some(("directory", _)) => FileKind::Directory,
            Some(("absent", _)) => FileKind::Absent,
            Some((word, span)) => {
                let expected = "expected file, directory or absent (which is never there)";
                return Err(self.error(span, &format!("`{word}` is not a kind of file"), expected));
            }
        };
        if let Some(session) = raw.session.first().filter(|_| kind != FileKind::File) {
            let expected =
                "expected calls in [program] in place of it, as in { call = \"readdir\", file = \"NAME\" }";
            return Err(self.error(session.name.span(), "a session of what holds no bytes", expected));
        }
        let lengths = raw.size.as_ref().map_or(Ok(Vec::new()), |size| self.lengths(size))?;
        let size = match (&raw.size, lengths.iter().map(|(size, _)| *size).max()) {
            (_, Some(most)) => most,
            (Some(size), None) => self.quantity(size, bytes, BYTES_EXPECTED)?,
            (None, None) => 0,
        };
        Ok(ModelFile {
            lengths: if lengths.len() > 1 { lengths } else { Vec::new() },
            name: raw.name.get_ref().clone(),
            class,
            kind,
            count,
            present: raw.present,
            filled: raw.filled,
            times: self.ratio(raw.times.as_ref())?,
            call_times: self.ratio(raw.call_times.as_ref())?,
            call_slack: raw.call_slack.as_ref().map_or(Ok(Vec::new()), |slack| self.times(slack))?,
            size,
            sessions: raw.session.iter().map(|session| self.session(session)).collect::<Result<_, _>>()?,
            statistics: raw
                .statistics
                .iter()
                .map(|statistics| self.statistics(statistics, (kind, groups)))
                .collect::<Result<_, _>>()?,
        })
    }

    /// A time, or a list of times; none for a single 0.
    fn times(&self, raw: &Spanned<toml::Value>) -> Result<Vec<u64>, ModelError> {
        let times = match raw.get_ref() {
            toml::Value::Array(items) => {
                let times: Option<Vec<u64>> = items.iter().map(|item| quantity(item, time)).collect();
                let expected = "expected times in the order of the calls, as in [\"15 ms\", \"80 us\"]";
                let times = times.filter(|times| !times.is_empty());
                times.ok_or_else(|| self.error(raw.span(), "this is not a list of times", expected))?
            }
            _ => vec![self.quantity(raw, time, TIME_EXPECTED)?],
        };
        Ok(if times.iter().all(|ns| *ns == 0) { Vec::new() } else { times })
    }

    /// How many bytes each file holds in its turn; none for a number of bytes.
    fn lengths(&self, raw: &Spanned<toml::Value>) -> Result<Vec<(u64, u64)>, ModelError> {
        let toml::Value::Array(items) = raw.get_ref() else { return Ok(Vec::new()) };
        let expected = "expected sizes of the files in their order, as in [\"15 * 64 KiB\", \"1 KiB\"]";
        runs_of_bytes(items)
            .filter(|runs| !runs.is_empty())
            .ok_or_else(|| self.error(raw.span(), "this is not a list of sizes", expected))
    }

    fn count(&self, raw: &RawFile) -> Result<u64, ModelError> {
        let numbered = raw.name.get_ref().contains("%i");
        let Some(count) = &raw.count else {
            let expected = "add count = N, the number of files, or take `%i` out of the name";
            let problem = "a name with `%i`, and no number of files";
            return if numbered { Err(self.error(raw.name.span(), problem, expected)) } else { Ok(1) };
        };
        let number = u64::try_from(*count.get_ref()).ok().filter(|number| (1..=MAX_COUNT).contains(number));
        let number = number.ok_or_else(|| {
            self.error(count.span(), &format!("{} files", count.get_ref()), "expected 1 to 1,000,000")
        })?;
        if number > 1 && !numbered {
            let expected = "expected `%i` for the number of the file in its name";
            return Err(self.error(count.span(), &format!("{number} files with one name"), expected));
        }
        Ok(number)
    }

    fn check_name(&self, name: &Spanned<String>, class: Sharing) -> Result<(), ModelError> {
        let text = name.get_ref();
        let is_part = |part: &str| !matches!(part, "" | "." | "..");
        if !text.split('/').all(is_part)
            || text.contains(char::is_control)
            || text.replace("%r", "").replace("%i", "").contains('%')
        {
            return Err(self.error(name.span(), &format!("`{text}` cannot name a file of a model"), NAMES));
        }
        match (class, text.contains("%r")) {
            (Sharing::Private, false) => Err(self.error(
                name.span(),
                &format!("all ranks have the private file `{text}`"),
                "expected `%r` for the rank in the name of a private file",
            )),
            (Sharing::Root | Sharing::Shared, true) => Err(self.error(
                name.span(),
                &format!("the name `{text}` differs from rank to rank"),
                "expected class = \"private\", or a name without `%r`",
            )),
            _ => Ok(()),
        }
    }

    fn session(&self, raw: &RawSession) -> Result<ModelSession, ModelError> {
        if raw.name.get_ref().contains('/') {
            let problem = format!("the name `{}` of a session has a slash", raw.name.get_ref());
            return Err(self.error(
                raw.name.span(),
                &problem,
                "expected a name without `/`, which ends the name of the file",
            ));
        }
        let mode = mode(raw.mode.get_ref()).ok_or_else(|| {
            self.error(raw.mode.span(), &format!("`{}` is not a mode", raw.mode.get_ref()), MODES)
        })?;
        let layer = raw.layer.as_ref().map_or(Ok(SessionLayer::System), |layer| self.layer(layer, mode))?;
        let requests = self.requests(&raw.requests, mode)?;
        let transfers = requests.keys().any(|kind| kind.is_transfer());
        let count = |kind| requests.get(&kind).copied().unwrap_or_default();
        let (reads, writes) = (count(RequestKind::Read), count(RequestKind::Write));
        let of_size = match (reads > 0 && writes > 0, &raw.write_size) {
            (true, Some(_)) => Some(reads),
            (true, None) => None,
            (false, _) => Some(reads + writes),
        };
        let none = || (BTreeMap::new(), Vec::new());
        let (sizes, runs) =
            raw.size.as_ref().map_or_else(|| Ok(none()), |sizes| self.sizes_in_order(sizes, of_size))?;
        let (write_sizes, write_runs) = match &raw.write_size {
            None => none(),
            Some(sizes) if does_both(&requests) => self.sizes_in_order(sizes, Some(writes))?,
            Some(sizes) => {
                let problem = "sizes of writes in a session that does not do both";
                return Err(self.error(
                    sizes.span(),
                    problem,
                    "expected size alone; write_size is for sessions that read and write",
                ));
            }
        };
        if transfers == sizes.is_empty() {
            let (problem, expected) = if transfers {
                ("a session with transfers has no size", "add size = BYTES or size = { BYTES = COUNT, ... }")
            } else {
                ("a session without transfers has a size", "remove it, or add read or write to requests")
            };
            return Err(self.error(raw.name.span(), problem, expected));
        }
        let order = raw.order.as_ref().map_or(Ok(Vec::new()), |order| self.order(order, &requests))?;
        self.check_locks(raw, layer, &requests, &order)?;
        let write_offset =
            raw.write_offset.as_ref().map(|offset| self.offset("write_offset", offset)).transpose()?;
        if let Some(offset) = raw.write_offset.as_ref().filter(|_| !does_both(&requests)) {
            let expected = "expected offset alone; write_offset is for sessions that read and write";
            return Err(self.error(
                offset.span(),
                "places of writes in a session that does not do both",
                expected,
            ));
        }
        Ok(ModelSession {
            name: raw.name.get_ref().clone(),
            mode,
            layer,
            order,
            random: raw.random.as_ref().map_or(Ok(0), |random| self.random(random))?,
            write_offset,
            requests,
            sizes,
            write_sizes,
            runs,
            write_runs,
            offset: raw
                .offset
                .as_ref()
                .map_or(Ok(OffsetLaw::Sequential), |offset| self.offset("offset", offset))?,
            slack: raw.slack.as_ref().map_or(Ok(BTreeMap::new()), |slack| self.slack(slack))?,
            duration: raw
                .duration
                .as_ref()
                .map_or(Ok(0), |time_of| self.quantity(time_of, time, TIME_EXPECTED))?,
            length: raw.length.as_ref().map(|length| self.length(length)).transpose()?,
            counted: self.counted(raw.counted.as_ref())?,
        })
    }

    fn layer(&self, raw: &Spanned<String>, mode: Mode) -> Result<SessionLayer, ModelError> {
        let word = raw.get_ref();
        match SessionLayer::named(word) {
            None => Err(self.error(raw.span(), &format!("`{word}` is not a layer"), LAYER_WORDS)),
            Some(layer) if layer != SessionLayer::System && mode.append => Err(self.error(
                raw.span(),
                "a session of MPI-IO appends",
                "expected a mode without append: calls of MPI-IO say where they write",
            )),
            Some(layer) => Ok(layer),
        }
    }

    /// Locks are taken, and then released or kept to the end of the session, in an order that is written down.
    fn check_locks(
        &self,
        raw: &RawSession,
        layer: SessionLayer,
        requests: &BTreeMap<RequestKind, u64>,
        order: &[(RequestKind, u64)],
    ) -> Result<(), ModelError> {
        if !takes_locks(requests) {
            return Ok(());
        }
        // What fits twice fits any number of times.
        let round =
            || order.iter().flat_map(|(kind, count)| std::iter::repeat_n(*kind, (*count).min(2) as usize));
        let fits = match rounds(order, requests) {
            None => locks_fit(spread(requests)),
            Some(1) => locks_fit(round()),
            Some(_) => locks_fit(round().chain(round())),
        };
        let (problem, expected) = if layer != SessionLayer::System {
            ("a session of MPI-IO takes locks", "expected layer = \"posix\": MPI-IO has no locks")
        } else if !fits {
            (
                "a lock is taken that is held, or released that is not",
                "expected an order such as [\"lock\", \"write\", \"unlock\"]",
            )
        } else {
            return Ok(());
        };
        Err(self.error(raw.requests.span(), problem, expected))
    }

    fn requests(
        &self,
        raw: &Spanned<BTreeMap<String, Spanned<i64>>>,
        mode: Mode,
    ) -> Result<BTreeMap<RequestKind, u64>, ModelError> {
        let mut requests = BTreeMap::new();
        for (word, count) in raw.get_ref() {
            let kind = REQUESTS.iter().find(|(known, _)| known == word).map(|(_, kind)| *kind);
            let possible = match kind {
                Some(RequestKind::Read) => mode.read,
                Some(RequestKind::Write | RequestKind::Truncate) => mode.write,
                _ => true,
            };
            let (Some(kind), true) = (kind, possible) else {
                let expected = "expected read, write, fsync, fdatasync, stat or truncate; read needs mode ro or rw, write and truncate \
                                wo or rw";
                return Err(self.error(
                    count.span(),
                    &format!("`{word}` is not a request of this session"),
                    expected,
                ));
            };
            let number =
                u64::try_from(*count.get_ref()).ok().filter(|number| (1..=MAX_REQUESTS).contains(number));
            requests.insert(
                kind,
                number.ok_or_else(|| {
                    let problem = format!("{} requests", count.get_ref());
                    self.error(count.span(), &problem, "expected 1 to 1,048,576; repeat the session for more")
                })?,
            );
        }
        Ok(requests)
    }

    /// Sizes of so many transfers with weights, and the runs of them in their order, which are empty if that is drawn or there is one size. A session
    /// that reads and writes has no number of transfers for both.
    fn sizes_in_order(
        &self,
        raw: &Spanned<toml::Value>,
        transfers: Option<u64>,
    ) -> Result<Sizes, ModelError> {
        let toml::Value::Array(items) = raw.get_ref() else { return Ok((self.sizes(raw)?, Vec::new())) };
        let expected = "expected sizes in the order of the transfers, as in [\"15 * 64 KiB\", \"1 KiB\"]";
        let runs = runs_of_bytes(items)
            .filter(|runs| !runs.is_empty())
            .ok_or_else(|| self.error(raw.span(), "this is not a list of sizes", expected))?;
        let sum: u64 = runs.iter().map(|(_, count)| count).sum();
        let Some(transfers) = transfers else {
            let expected = "expected write_size as well: reads and writes have an order of sizes each";
            return Err(self.error(raw.span(), "sizes in order of reads and writes together", expected));
        };
        if sum > transfers {
            let problem = format!("{sum} sizes in order");
            let expected =
                "expected as many as there are reads, or writes, or less, which come again and again";
            return Err(self.error(raw.span(), &problem, expected));
        }
        Ok((summed(&runs, transfers), if runs.len() > 1 { runs } else { Vec::new() }))
    }

    pub(super) fn sizes(&self, raw: &Spanned<toml::Value>) -> Result<BTreeMap<u64, u64>, ModelError> {
        self.weighted(raw, "a size", bytes, BYTES_EXPECTED)
    }

    /// Times with weights; none for a single 0.
    pub(super) fn slack(&self, raw: &Spanned<toml::Value>) -> Result<BTreeMap<u64, u64>, ModelError> {
        let times = self.weighted(raw, "a time", time, TIME_EXPECTED)?;
        Ok(if times.len() == 1 && times.contains_key(&0) { BTreeMap::new() } else { times })
    }

    /// Runs of requests; nothing if that is how they are spread anyway.
    fn order(
        &self,
        raw: &Spanned<Vec<String>>,
        requests: &BTreeMap<RequestKind, u64>,
    ) -> Result<Vec<(RequestKind, u64)>, ModelError> {
        let run = |text: &String| {
            let (count, word) = text
                .split_once(TIMES)
                .map_or((Some(1), text.as_str()), |(count, word)| (count.parse().ok(), word));
            let kind = REQUESTS.iter().find(|(known, _)| *known == word).map(|(_, kind)| *kind)?;
            Some((kind, count.filter(|count| (1..=MAX_REQUESTS).contains(count))?))
        };
        let runs: Option<Vec<(RequestKind, u64)>> = raw.get_ref().iter().map(run).collect();
        let expected = "expected all requests in their order, as in [\"2 * write\", \"fsync\"], once or so often that it is done again and again";
        let error = || self.error(raw.span(), "these are not the requests of the session", expected);
        let order = runs.ok_or_else(error)?;
        let rounds = rounds(&order, requests).ok_or_else(error)?;
        let round = || order.iter().flat_map(|(kind, count)| (0..*count).map(|_| *kind));
        let kinds: Vec<RequestKind> = (0..rounds).flat_map(|_| round()).collect();
        Ok(ModelSession::order_of(&kinds))
    }

    fn ratio(&self, raw: Option<&Spanned<String>>) -> Result<Ratio, ModelError> {
        let Some(raw) = raw else { return Ok(Ratio::ONE) };
        let problem = || format!("`{}` is not a ratio", raw.get_ref());
        let expected = "expected how often the steps of the program are done, as in \"3 / 2\"";
        Ratio::parse(raw.get_ref()).ok_or_else(|| self.error(raw.span(), &problem(), expected))
    }

    fn random(&self, raw: &Spanned<String>) -> Result<u64, ModelError> {
        let problem = || format!("`{}` is not a share", raw.get_ref());
        share(raw.get_ref())
            .ok_or_else(|| self.error(raw.span(), &problem(), "expected a share as in \"0.5\""))
    }

    fn counted(&self, raw: Option<&Spanned<i64>>) -> Result<u64, ModelError> {
        let Some(raw) = raw else { return Ok(0) };
        let number = u64::try_from(*raw.get_ref()).ok().filter(|number| *number > 0);
        let problem = || format!("counted as {} steps", raw.get_ref());
        number.ok_or_else(|| self.error(raw.span(), &problem(), "expected a number of steps, at least 1"))
    }

    /// A value, or values with weights.
    pub(super) fn weighted(
        &self,
        raw: &Spanned<toml::Value>,
        what: &str,
        parse: fn(&str) -> Option<u64>,
        expected: &str,
    ) -> Result<BTreeMap<u64, u64>, ModelError> {
        let toml::Value::Table(table) = raw.get_ref() else {
            return Ok(BTreeMap::from([(self.quantity(raw, parse, expected)?, 1)]));
        };
        let mut values = BTreeMap::new();
        for (text, count) in table {
            let value = parse(text)
                .ok_or_else(|| self.error(raw.span(), &format!("`{text}` is not {what}"), expected))?;
            let count = count.as_integer().and_then(|count| u64::try_from(count).ok());
            let count = count.filter(|count| (1..=MAX_REQUESTS).contains(count)).ok_or_else(|| {
                let problem = format!("the count of `{text}` is not one");
                self.error(raw.span(), &problem, "expected a whole number from 1 to 1,048,576")
            })?;
            if values.insert(value, count).is_some() {
                let problem = format!("`{text}` is there twice");
                return Err(self.error(raw.span(), &problem, "expected each value once"));
            }
        }
        if values.is_empty() {
            return Err(self.error(raw.span(), "there is no value", expected));
        }
        Ok(values)
    }

    pub(super) fn quantity(
        &self,
        raw: &Spanned<toml::Value>,
        parse: fn(&str) -> Option<u64>,
        expected: &str,
    ) -> Result<u64, ModelError> {
        quantity(raw.get_ref(), parse).ok_or_else(|| self.error(raw.span(), &found(raw.get_ref()), expected))
    }
}

/// Sizes with weights, and runs of them in their order.
type Sizes = (BTreeMap<u64, u64>, Vec<(u64, u64)>);

fn does_both(requests: &BTreeMap<RequestKind, u64>) -> bool {
    requests.contains_key(&RequestKind::Read) && requests.contains_key(&RequestKind::Write)
}

/// Runs of bytes, such as `"15 * 64 KiB"`: bytes and number.
pub(super) fn runs_of_bytes(items: &[toml::Value]) -> Option<Vec<(u64, u64)>> {
    let run = |item: &toml::Value| {
        let text = item.as_str()?;
        let (count, size) =
            text.split_once(TIMES).map_or((Some(1), text), |(count, size)| (count.parse().ok(), size));
        Some((bytes(size)?, count.filter(|count| (1..=MAX_REQUESTS).contains(count))?))
    };
    items.iter().map(run).collect()
}

/// How often each size occurs in so many transfers whose sizes are these runs, again and again.
pub(super) fn summed(runs: &[(u64, u64)], transfers: u64) -> BTreeMap<u64, u64> {
    let round: u64 = runs.iter().map(|(_, count)| count).fold(0, |sum, count| sum.saturating_add(*count));
    let (rounds, mut rest) = (transfers / round.max(1), transfers % round.max(1));
    let mut sizes = BTreeMap::new();
    for (size, count) in runs {
        let more = rest.min(*count);
        rest -= more;
        *sizes.entry(*size).or_default() += count.saturating_mul(rounds).saturating_add(more);
    }
    sizes.retain(|_, count| *count > 0);
    sizes
}

pub(super) fn quantity(value: &toml::Value, parse: fn(&str) -> Option<u64>) -> Option<u64> {
    match value {
        toml::Value::String(text) => parse(text),
        toml::Value::Integer(number) => parse(&number.to_string()),
        _ => None,
    }
}

pub(super) fn found(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => format!("found `{text}`"),
        toml::Value::Integer(number) => format!("found {number}"),
        other => format!("found a value of type {}", other.type_str()),
    }
}

pub(super) fn mode(text: &str) -> Option<Mode> {
    let mut words = text.split(' ');
    let (read, write) = match words.next()? {
        "ro" => (true, false),
        "wo" => (false, true),
        "rw" => (true, true),
        _ => return None,
    };
    let mut mode = Mode { read, write, create: false, truncate: false, append: false };
    for word in words {
        let flag = match word {
            "create" => &mut mode.create,
            "truncate" if write => &mut mode.truncate,
            "append" if write => &mut mode.append,
            _ => return None,
        };
        if std::mem::replace(flag, true) {
            return None;
        }
    }
    Some(mode)
}

/// A distance of ranks, if there is one.
type Distance<'a> = Option<&'a Spanned<i64>>;

/// What steps may name.
struct Names<'a> {
    source: &'a Source<'a>,
    groups: HashMap<&'a str, usize>,
    files: HashMap<&'a str, (usize, FileKind)>,
    sessions: HashMap<String, (usize, usize)>,
}

impl<'a> Names<'a> {
    fn of(source: &'a Source<'a>, groups: &'a [RankGroup], files: &'a [ModelFile]) -> Self {
        let groups = groups.iter().enumerate().map(|(at, group)| (group.name.as_str(), at)).collect();
        let mut sessions = HashMap::new();
        for (file, model) in files.iter().enumerate() {
            for (session, named) in model.sessions.iter().enumerate() {
                sessions.insert(format!("{}/{}", model.name, named.name), (file, session));
            }
        }
        let files =
            files.iter().enumerate().map(|(at, file)| (file.name.as_str(), (at, file.kind))).collect();
        Self { source, groups, files, sessions }
    }

    fn steps(&self, raw: &[Spanned<RawStep>], depth: usize) -> Result<Vec<ProgramStep>, ModelError> {
        raw.iter().map(|step| self.step(step, depth)).collect()
    }

    fn group(&self, name: &Spanned<String>) -> Result<usize, ModelError> {
        let problem = || format!("no group is called `{}`", name.get_ref());
        let known = self.groups.get(name.get_ref().as_str()).copied();
        known.ok_or_else(|| self.source.error(name.span(), &problem(), STEPS))
    }

    /// Ranks wait for a session of others.
    fn after(
        &self,
        name: &Spanned<String>,
        (of, by, around): (Option<&Spanned<String>>, Distance<'_>, Distance<'_>),
        ranks: Option<&Spanned<String>>,
    ) -> Result<ProgramStep, ModelError> {
        let Some(&(file, session)) = self.sessions.get(name.get_ref()) else {
            let problem = format!("no session is called `{}`", name.get_ref());
            return Err(self.source.error(name.span(), &problem, STEPS));
        };
        let ranks = ranks.map(|group| self.group(group)).transpose()?;
        let expected = "add of = \"GROUP\", by = -1 or around = -1, whose sessions are waited for";
        let nobody = || self.source.error(name.span(), "nobody is waited for", expected);
        let of = self.partner(of, by, around)?.ok_or_else(nobody)?;
        Ok(ProgramStep::After { file, session, of, ranks })
    }

    /// Time in which ranks make no request.
    fn pause(&self, raw: &Spanned<RawStep>, pause: &Spanned<toml::Value>) -> Result<ProgramStep, ModelError> {
        let ranks = raw.get_ref().ranks.as_ref();
        let alone = RawStep { pause: Some(pause.clone()), ranks: ranks.cloned(), ..RawStep::default() };
        if *raw.get_ref() != alone {
            return Err(self.source.error(raw.span(), "this is not a step", STEPS));
        }
        let ns = quantity(pause.get_ref(), time);
        let ns = ns.ok_or_else(|| self.source.error(pause.span(), "this is not a time", TIME_EXPECTED))?;
        Ok(ProgramStep::Pause { ns, ranks: ranks.map(|group| self.group(group)).transpose()? })
    }

    /// Half of a message.
    fn message(&self, raw: &RawStep, name: &Spanned<String>) -> Result<ProgramStep, ModelError> {
        let known = MessageHalf::ALL.iter().find(|(word, ..)| word == name.get_ref());
        let Some(&(_, word, half)) = known else {
            let problem = format!("`{}` is no half of a message", name.get_ref());
            return Err(self.source.error(name.span(), &problem, "expected send or receive"));
        };
        let (group, other, wrong) = match half {
            MessageHalf::Send => (&raw.to, &raw.from, "from"),
            MessageHalf::Receive => (&raw.from, &raw.to, "to"),
        };
        let ranks = raw.ranks.as_ref().map(|group| self.group(group)).transpose()?;
        let partner = self.partner(group.as_ref(), raw.by.as_ref(), raw.around.as_ref())?;
        if let Some(partner) = partner.filter(|_| other.is_none()) {
            return Ok(ProgramStep::Message { half, partner, ranks });
        }
        let given = [group.is_some(), raw.by.is_some(), raw.around.is_some()];
        let problem = match (other, given.into_iter().filter(|given| *given).count()) {
            (Some(_), _) => format!("a {} has `{word}`, not `{wrong}`", name.get_ref()),
            (None, 0) => "the message has no partner".to_owned(),
            (None, _) => "the message has two partners".to_owned(),
        };
        let expected = format!("expected one of {word} = \"GROUP\", by = 1 and around = 1");
        Err(self.source.error(name.span(), &problem, &expected))
    }

    /// Whom a step is about; NULL if that is said not at all, or twice.
    fn partner(
        &self,
        group: Option<&Spanned<String>>,
        by: Distance<'_>,
        around: Distance<'_>,
    ) -> Result<Option<Partner>, ModelError> {
        let distance = |by: &Spanned<i64>| {
            let shift = i32::try_from(*by.get_ref()).ok().filter(|shift| *shift != 0);
            let problem = || format!("the rank that comes {} later", by.get_ref());
            let expected =
                "expected a distance of ranks other than 0 and within 32 bits, as -1, the rank before";
            shift.ok_or_else(|| self.source.error(by.span(), &problem(), expected))
        };
        Ok(match (group, by, around) {
            (Some(group), None, None) => Some(Partner::Group(self.group(group)?)),
            (None, Some(by), None) => Some(Partner::Shift(distance(by)?)),
            (None, None, Some(around)) => Some(Partner::Around(distance(around)?)),
            _ => None,
        })
    }

    /// The index of the file of a name, and what it is.
    fn file(&self, name: &Spanned<String>) -> Result<(usize, FileKind), ModelError> {
        let problem = || format!("no file is called `{}`", name.get_ref());
        let found = self.files.get(name.get_ref().as_str()).copied();
        found.ok_or_else(|| self.source.error(name.span(), &problem(), STEPS))
    }

    /// The file, or directory, whose name a call gives to another one, which is a `what`.
    fn renamed_to(
        &self,
        (call, what): (NameCall, FileKind),
        to: Option<&Spanned<String>>,
    ) -> Result<Option<usize>, ModelError> {
        let Some(name) = to else { return Ok(None) };
        let (file, kind) = self.file(name)?;
        let gives_name = matches!(call, NameCall::Rename | NameCall::Link);
        if gives_name && kind != FileKind::Absent && kind == what {
            return Ok(Some(file));
        }
        let problem = format!("`{}` does not give files the name of `{}`", call.word(), name.get_ref());
        Err(self.source.error(
            name.span(),
            &problem,
            "expected `to` beside call = \"rename\" or \"link\" alone, of a file with a file, of a directory with a directory",
        ))
    }

    fn step(&self, raw: &Spanned<RawStep>, depth: usize) -> Result<ProgramStep, ModelError> {
        let error = |span, problem: &str, expected: &str| Err(self.source.error(span, problem, expected));
        if depth == MAX_DEPTH {
            return error(raw.span(), "steps are nested deeper than 16", "expected fewer levels of repeat");
        }
        let RawStep { repeat, steps, session, next, call, file, ranks, barrier, .. } = raw.get_ref();
        let RawStep { after, of, by, around, message, to, from, pause, .. } = raw.get_ref();
        if let Some(pause) = pause {
            return self.pause(raw, pause);
        }
        let waits = after.is_some() || of.is_some();
        let tells = message.is_some() || from.is_some() || to.is_some() && call.is_none();
        if waits || tells || by.is_some() || around.is_some() {
            let acts = session.is_some() || next.is_some() || call.is_some() || file.is_some();
            let alone = repeat.is_none() && steps.is_none() && barrier.is_none() && !acts;
            return match (after, message) {
                (Some(name), None) if alone && !tells => {
                    self.after(name, (of.as_ref(), by.as_ref(), around.as_ref()), ranks.as_ref())
                }
                (None, Some(name)) if alone && !waits => self.message(raw.get_ref(), name),
                _ => error(raw.span(), "this is not a step", STEPS),
            };
        }
        let group = || ranks.as_ref().map(|group| self.group(group)).transpose();
        match (repeat, steps, session, next, call, file, ranks, barrier) {
            (Some(repeat), Some(steps), None, None, None, None, None, None) => {
                let times = u64::try_from(*repeat.get_ref()).ok().filter(|times| *times <= MAX_REPEAT);
                match times {
                    Some(times) => Ok(ProgramStep::Repeat(times, self.steps(steps, depth + 1)?)),
                    None => error(
                        repeat.span(),
                        &format!("cannot repeat {} times", repeat.get_ref()),
                        "expected 0 to 1,099,511,627,776",
                    ),
                }
            }
            (None, None, Some(name), next, None, None, _, None) => {
                let ranks = group()?;
                let Some(&(file, session)) = self.sessions.get(name.get_ref()) else {
                    return error(name.span(), &format!("no session is called `{}`", name.get_ref()), STEPS);
                };
                let Some(next) = next else { return Ok(ProgramStep::Session { file, session, ranks }) };
                match u64::try_from(*next.get_ref()).ok().filter(|steps| *steps > 0) {
                    Some(steps) => Ok(ProgramStep::Part { file, session, ranks, steps }),
                    None => error(
                        next.span(),
                        &format!("the next {} steps", next.get_ref()),
                        "expected at least 1",
                    ),
                }
            }
            (None, None, None, None, Some(call), Some(name), _, None) => {
                let ranks = group()?;
                let (file, kind) = self.file(name)?;
                let known: Option<NameCall> =
                    CALLS.iter().find(|(word, _)| word == call.get_ref()).map(|(_, call)| *call);
                match known.filter(|call| call.takes(kind)) {
                    Some(NameCall::Link) if to.is_none() => {
                        error(call.span(), "a link without its further name", "add to = FILE")
                    }
                    Some(call) => Ok(ProgramStep::Call {
                        call,
                        file,
                        ranks,
                        to: self.renamed_to((call, kind), to.as_ref())?,
                    }),
                    None => {
                        let problem = format!("`{}` is not a call on `{}`", call.get_ref(), name.get_ref());
                        error(call.span(), &problem, CALL_WORDS)
                    }
                }
            }
            (None, None, None, None, None, None, None, Some(name)) => {
                Ok(ProgramStep::Barrier(self.group(name)?))
            }
            _ => error(raw.span(), "this is not a step", STEPS),
        }
    }
}
