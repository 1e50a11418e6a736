//! Whether runs of a clone are like runs of the program that it is a clone of: each figure of the files of a class, and of the whole run.

use crate::CharacterizeError;
use crate::names::{Kinds, word};
use crate::result::{Options, Recorded};
use iotrail_model::Nullable;
use iotrail_model::calls::{CallKind, OpenFlags};
use iotrail_query::Query;
use iotrail_trail::EventLog;
use iotrail_workload::{
    CallForm, Characteristics, Distribution, FileIndex, FileKind, Placed, Request, Runs, RunsError,
    SessionLayer, Variant, Verdict, characteristics, compare, total_variation,
};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// A difference of so much of the mean is small.
const TOLERANCE: f64 = 0.05;
/// That of mixes, in total variation.
const MIX_TOLERANCE: f64 = 0.01;

/// What a figure of a run is.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Total(f64),
    Mix(BTreeMap<String, u64>),
    Distribution(Distribution),
}

impl Value {
    /// One number for it: of a distribution its mean; none of a mix.
    fn mean(&self) -> Option<f64> {
        match self {
            Self::Total(total) => Some(*total),
            Self::Mix(_) => None,
            Self::Distribution(distribution) => distribution.mean(),
        }
    }
}

/// The figures of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample(BTreeMap<(String, &'static str), Value>);

/// What the whole run is called among classes of files.
const ALL: &str = "all";

impl Sample {
    /// The figures of a recorded run.
    ///
    /// # Errors
    /// If the log cannot be read, or nothing on files of the program is selected.
    pub fn of(
        log: &EventLog,
        query: &Query,
        options: Options,
        threads: NonZeroUsize,
    ) -> Result<Self, CharacterizeError> {
        Ok(Self::measured(&Recorded::of(log, query, options, threads)?))
    }

    /// The figures of a run.
    pub(crate) fn measured(Recorded { streams, kinds }: &Recorded) -> Self {
        let class = |file: FileIndex| word(&kinds.kinds[kinds.of_file[file.0 as usize]].classed.class);
        let mut sample = Self::default();
        let mut sums: BTreeMap<&'static str, Characteristics> = BTreeMap::new();
        let mut operations = BTreeMap::new();
        let (mut read, mut written, mut data, mut all) = (0, 0, 0_u64, 0_u64);
        let (mut begin, mut end) = (i64::MAX, i64::MIN);
        for of_rank in &streams.requests {
            let requests = comparable_requests(of_rank, kinds);
            let placed: Vec<Placed> =
                (1..).zip(requests).map(|(position, request)| Placed { position, request }).collect();
            for Placed { request, .. } in &placed {
                *operations.entry(request.form.name.to_string()).or_insert(0) += 1;
                match request.kind() {
                    CallKind::Read => read += request.size.get().unwrap_or_default(),
                    CallKind::Write => written += request.size.get().unwrap_or_default(),
                    _ => {}
                }
                data += u64::from(request.is_data());
                all += 1;
                begin = begin.min(request.start);
                end = end.max(request.end.get().unwrap_or(request.start));
            }
            for (class, measured) in characteristics(&placed, class) {
                sums.entry(class).or_default().merge(&measured);
            }
        }
        sample.total(ALL, "requests", all as f64);
        sample.total(ALL, "bytes read", read as f64);
        sample.total(ALL, "bytes written", written as f64);
        sample.total(ALL, "data requests (share)", data as f64 / all.max(1) as f64);
        sample.total(ALL, "elapsed, recorded (ns)", end.saturating_sub(begin).max(0) as f64);
        sample.0.insert((ALL.to_owned(), "operations"), Value::Mix(operations));
        for (class, measured) in sums {
            sample.class(class, measured);
        }
        sample
    }

    /// Its distributions, by class and name.
    pub(crate) fn distributions(&self) -> impl Iterator<Item = ((&String, &'static str), &Distribution)> {
        self.0.iter().filter_map(|((class, name), value)| match value {
            Value::Distribution(distribution) => Some(((class, *name), distribution)),
            Value::Total(_) | Value::Mix(_) => None,
        })
    }

    /// Adds a total of the whole run that was measured elsewhere, as the elapsed time without recording.
    pub fn total_of_run(&mut self, name: &'static str, value: f64) {
        self.total(ALL, name, value);
    }

    fn total(&mut self, class: &str, name: &'static str, value: f64) {
        self.0.insert((class.to_owned(), name), Value::Total(value));
    }

    fn class(&mut self, class: &str, measured: Characteristics) {
        let mix = |mix: BTreeMap<Variant, u64>| {
            mix.into_iter().map(|(variant, count)| (variant.operation.to_string(), count)).collect()
        };
        let modes = measured.modes.iter().map(|(mode, count)| (mode.to_string(), *count)).collect();
        let mut sizes = BTreeMap::new();
        for (variant, of_variant) in &measured.sizes {
            let name = if &*variant.operation == "read" { "SIZE of reads" } else { "SIZE of writes" };
            sizes.entry(name).or_insert_with(Distribution::default).merge(of_variant);
        }
        let distributions = [
            ("OS", measured.files),
            ("OT", measured.sessions),
            ("D", measured.depth),
            ("ISG0", measured.first_gap),
            ("ISG", measured.session_gap),
            ("IRG", measured.request_gap),
            ("ST (ns)", measured.slack),
        ];
        let mixes: [(_, BTreeMap<String, u64>); 3] =
            [("RT1", mix(measured.in_sessions)), ("RT2", mix(measured.outside)), ("AM", modes)];
        for (name, distribution) in distributions.into_iter().chain(sizes) {
            if distribution.total() > 0 {
                self.0.insert((class.to_owned(), name), Value::Distribution(distribution));
            }
        }
        for (name, mix) in mixes.into_iter().filter(|(_, mix)| !mix.is_empty()) {
            self.0.insert((class.to_owned(), name), Value::Mix(mix));
        }
        if let Some(share) = measured.pairs.consecutive_share() {
            self.total(class, "SEQ", share);
        }
        if let Some(size) = measured.file_size {
            self.total(class, "FS", size as f64);
        }
    }
}

/// The requests of a rank in words that a program and its clone share, those that a model has words for. The entries of a directory are read
/// until there are no more: all of that is one request, in no session. A session that the program leaves open ends with its last request.
pub(crate) fn comparable_requests(requests: &[Request], kinds: &Kinds) -> Vec<Request> {
    let mut listed = HashSet::new();
    let mut forms: HashMap<Arc<CallForm>, Option<Arc<CallForm>>> = HashMap::new();
    let comparable = requests.iter().filter_map(|request| {
        let what = kinds.kinds[kinds.of_file[request.file.0 as usize]].what;
        let mut is_again = || {
            what == FileKind::Directory
                && request.kind() == CallKind::List
                && request.open.get().is_some_and(|open| !listed.insert(open))
        };
        if is_again() {
            return None;
        }
        let form = match forms.get(&request.form) {
            Some(known) => known.clone(),
            None => forms
                .entry(Arc::clone(&request.form))
                .or_insert(comparable(&request.form).map(Arc::new))
                .clone(),
        };
        let open = request.open.get().filter(|_| what == FileKind::File).into();
        Some(Request { form: form?, seek: false, open, ..request.clone() })
    });
    closed(comparable.collect())
}

/// With a close behind the last request of each session that has none.
fn closed(requests: Vec<Request>) -> Vec<Request> {
    let mut last: HashMap<u64, usize> = HashMap::new();
    for (at, request) in requests.iter().enumerate() {
        last.extend(request.open.get().map(|open| (open, at)));
    }
    let form = Arc::new(CallForm {
        name: Arc::from("close"),
        kind: CallKind::Close,
        mode: None,
        layer: SessionLayer::System,
    });
    let mut all = Vec::with_capacity(requests.len());
    for (at, request) in requests.into_iter().enumerate() {
        let is_last = |open: &u64| last.get(open) == Some(&at) && request.kind() != CallKind::Close;
        let close = request.open.get().filter(is_last).map(|_| Request {
            form: Arc::clone(&form),
            seek: false,
            offset: Nullable::NULL,
            size: Nullable::NULL,
            slack_ns: Nullable::NULL,
            start: request.end.get().unwrap_or(request.start),
            ..request.clone()
        });
        all.push(request);
        all.extend(close);
    }
    all
}

/// A call in words that a program and its clone share; NULL for what a model has no word for.
fn comparable(form: &CallForm) -> Option<CallForm> {
    let name = match form.kind {
        CallKind::Read => "read",
        CallKind::Write => "write",
        CallKind::Open | CallKind::Create => "open",
        CallKind::Close => "close",
        CallKind::Sync => "sync",
        CallKind::Stat | CallKind::Access | CallKind::ReadLink => "stat",
        CallKind::Truncate => "truncate",
        CallKind::Unlink | CallKind::RemoveDirectory => "unlink",
        CallKind::Rename => "rename",
        CallKind::Link => "link",
        CallKind::MakeDirectory => "mkdir",
        CallKind::List => "readdir",
        _ => return None,
    };
    let mode = form.mode.as_deref().map(|flags| {
        let flags = OpenFlags::parse(flags.as_bytes());
        let access = match (flags.reads(), flags.writes()) {
            (true, true) => "rw",
            (false, true) => "wo",
            _ => "ro",
        };
        let words =
            [(flags.creates(), " create"), (flags.truncates(), " truncate"), (flags.appends(), " append")];
        let set = words.iter().filter(|(set, _)| *set);
        Arc::from(set.fold(access.to_owned(), |all, (_, word)| all + word).as_str())
    });
    let created: Option<Arc<str>> = (form.kind == CallKind::Create).then(|| Arc::from("wo create truncate"));
    Some(CallForm {
        name: Arc::from(name),
        kind: form.kind,
        mode: mode.or(created),
        layer: SessionLayer::System,
    })
}

/// How a figure of a clone compares with that of the program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// Class of files, or `all`.
    pub class: String,
    /// Name or symbol (docs/workload.md).
    pub name: &'static str,
    /// Smallest, mean and largest of the program's runs; NULL for a mix.
    pub program: Option<[f64; 3]>,
    /// Those of the clone's.
    pub clone: Option<[f64; 3]>,
    /// Median distance between a run of the program and one of the clone.
    pub distance: f64,
    /// The same between runs of the program.
    pub noise: f64,
    /// 95 % bootstrap bound of the ratio of both; NULL if the program has no noise.
    pub ratio_bound: Option<f64>,
    /// Share of relabellings of the runs that are at least as different, corrected for the number of figures (Holm).
    pub p_value: f64,
    /// What that comes to.
    pub verdict: &'static str,
}

/// A clone beside the program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Validation {
    /// Name and version of this form.
    pub format: &'static str,
    /// Runs of the program.
    pub program_runs: usize,
    /// Runs of the clone.
    pub clone_runs: usize,
    /// The verdict that is worst: `differs`, `undecided`, `within tolerance`, `within noise` or `equal`.
    pub verdict: &'static str,
    /// The figures, those of the whole run first.
    pub figures: Vec<Judged>,
}

/// All verdicts, the best first.
pub const VERDICTS: [(Verdict, &str); 5] = [
    (Verdict::Equal, "equal"),
    (Verdict::WithinNoise, "within noise"),
    (Verdict::WithinTolerance, "within tolerance"),
    (Verdict::Undecided, "undecided"),
    (Verdict::Differs, "differs"),
];

/// A figure of a clone beside that of the program, of any number of runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Class of files, or `all`.
    pub class: String,
    /// Name or symbol (docs/workload.md).
    pub name: &'static str,
    /// Mean of the program's runs; NULL for a mix.
    pub program: Option<f64>,
    /// That of the clone's.
    pub clone: Option<f64>,
    /// Median distance between a run of the program and one of the clone.
    pub distance: f64,
    /// The same between runs of the program; NULL with one run.
    pub noise: Option<f64>,
    /// What that comes to.
    pub verdict: &'static str,
}

/// The figures of any number of runs, and the verdict that is worst. One run of the program has no noise: what is not equal or within
/// tolerance is undecided then.
///
/// # Errors
/// If there is no run of the program or the clone.
pub(crate) fn figures(
    program: &[Sample],
    clone: &[Sample],
) -> Result<(&'static str, Vec<Figure>), RunsError> {
    if let [alone] = program {
        return alone_with(alone, clone);
    }
    let found = validate(program, clone)?;
    let figure = |judged: Judged| Figure {
        class: judged.class,
        name: judged.name,
        program: judged.program.map(|[_, mean, _]| mean),
        clone: judged.clone.map(|[_, mean, _]| mean),
        distance: judged.distance,
        noise: Some(judged.noise),
        verdict: judged.verdict,
    };
    Ok((found.verdict, found.figures.into_iter().map(figure).collect()))
}

/// The figures beside one run of the program.
fn alone_with(program: &Sample, clone: &[Sample]) -> Result<(&'static str, Vec<Figure>), RunsError> {
    if clone.is_empty() {
        return Err(RunsError::TooFew);
    }
    let nothing = Value::Distribution(Distribution::default());
    let mut worst = 0;
    let figure = |key: &(String, &'static str)| {
        let of = |run: &Sample| run.0.get(key).unwrap_or(&nothing).clone();
        let (one, others): (Value, Vec<Value>) = (of(program), clone.iter().map(of).collect());
        let mut distances: Vec<f64> = others.iter().map(|other| distance(&one, other, &[&one])).collect();
        distances.sort_by(f64::total_cmp);
        let (median, largest) = (distances[(distances.len() - 1) / 2], distances[distances.len() - 1]);
        let tolerance = tolerance(std::iter::once(&one).chain(&others));
        let verdict = if largest == 0.0 {
            Verdict::Equal
        } else if largest <= tolerance {
            Verdict::WithinTolerance
        } else {
            Verdict::Undecided
        };
        let place = VERDICTS.iter().position(|(known, _)| *known == verdict).unwrap_or_default();
        worst = worst.max(place);
        Figure {
            class: key.0.clone(),
            name: key.1,
            program: one.mean(),
            clone: range(&others.iter().collect::<Vec<_>>()).map(|[_, mean, _]| mean),
            distance: median,
            noise: None,
            verdict: VERDICTS[place].1,
        }
    };
    let figures = names(std::iter::once(program).chain(clone)).into_iter().map(figure).collect();
    Ok((VERDICTS[worst].1, figures))
}

/// The names of all figures of some runs, those of the whole run first.
fn names<'a>(runs: impl Iterator<Item = &'a Sample>) -> Vec<&'a (String, &'static str)> {
    let mut names: Vec<&(String, &'static str)> = runs.flat_map(|run| run.0.keys()).collect();
    names.sort_by_key(|(class, name)| (class != ALL, class.clone(), *name));
    names.dedup();
    names
}

/// The difference that is small for values of this kind.
fn tolerance<'a>(mut values: impl Iterator<Item = &'a Value>) -> f64 {
    if values.any(|value| matches!(value, Value::Mix(_))) { MIX_TOLERANCE } else { TOLERANCE }
}

/// Compares each figure that all runs, or all of one side, have.
///
/// # Errors
/// If there are fewer than two runs of the program, or none of the clone.
pub fn validate(program: &[Sample], clone: &[Sample]) -> Result<Validation, RunsError> {
    let nothing = Value::Distribution(Distribution::default());
    let mut compared = Vec::new();
    for key in names(program.iter().chain(clone)) {
        let values: Vec<&Value> =
            program.iter().chain(clone).map(|run| run.0.get(key).unwrap_or(&nothing)).collect();
        let distances = values
            .iter()
            .map(|one| values.iter().map(|other| distance(one, other, &values[..program.len()])).collect());
        let comparison = compare(&Runs::new(distances.collect(), program.len())?);
        compared.push((key, values, comparison));
    }
    let mut order: Vec<usize> = (0..compared.len()).collect();
    order.sort_by(|one, other| compared[*one].2.p_value.total_cmp(&compared[*other].2.p_value));
    let mut corrected = vec![1.0_f64; compared.len()];
    let mut largest = 0.0_f64;
    for (before, at) in order.iter().enumerate() {
        largest = largest.max(compared[*at].2.p_value * (compared.len() - before) as f64).min(1.0);
        corrected[*at] = largest;
    }
    let judged = compared.iter().zip(corrected).map(|(((class, name), values, comparison), p_value)| {
        let verdict = comparison.verdict(tolerance(values.iter().copied()), p_value);
        Judged {
            class: class.clone(),
            name,
            program: range(&values[..program.len()]),
            clone: range(&values[program.len()..]),
            distance: comparison.median,
            noise: comparison.noise,
            ratio_bound: comparison.ratio_bound,
            p_value,
            verdict: VERDICTS.iter().find(|(known, _)| *known == verdict).map_or("", |(_, word)| word),
        }
    });
    let figures: Vec<Judged> = judged.collect();
    let worst = figures
        .iter()
        .filter_map(|figure| VERDICTS.iter().position(|(_, word)| *word == figure.verdict))
        .max();
    Ok(Validation {
        format: "iotrail-validation/1",
        program_runs: program.len(),
        clone_runs: clone.len(),
        verdict: VERDICTS[worst.unwrap_or_default()].1,
        figures,
    })
}

/// Smallest, mean and largest; NULL if one of the runs has no number.
fn range(values: &[&Value]) -> Option<[f64; 3]> {
    let means: Vec<f64> = values.iter().map(|value| value.mean()).collect::<Option<_>>()?;
    let least = means.iter().copied().fold(f64::INFINITY, f64::min);
    let most = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some([least, means.iter().sum::<f64>() / means.len() as f64, most])
}

/// Of totals the difference, of distributions that of Wasserstein, both as a share of the mean of the program's runs; of mixes the total
/// variation. What one has and the other does not is 1 away.
fn distance(one: &Value, other: &Value, program: &[&Value]) -> f64 {
    if one == other {
        return 0.0;
    }
    let means: Vec<f64> = program.iter().filter_map(|value| value.mean()).map(f64::abs).collect();
    let mean = means.iter().sum::<f64>() / means.len().max(1) as f64;
    let share = |difference: f64| if mean > 0.0 { difference / mean } else { 1.0 };
    match (one, other) {
        (Value::Total(one), Value::Total(other)) => share((one - other).abs()),
        (Value::Mix(one), Value::Mix(other)) => total_variation(one, other),
        (Value::Distribution(one), Value::Distribution(other)) => one.wasserstein(other).map_or(1.0, share),
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(total: f64, sizes: &[i64]) -> Sample {
        let mut sample = Sample::default();
        sample.total_of_run("time", total);
        let sizes = sizes.iter().copied().collect();
        sample.0.insert(("shared".to_owned(), "D"), Value::Distribution(sizes));
        sample
    }

    fn verdicts(program: &[Sample], clone: &[Sample]) -> Vec<(&'static str, &'static str)> {
        let found = validate(program, clone).unwrap();
        found.figures.iter().map(|figure| (figure.name, figure.verdict)).collect()
    }

    #[test]
    fn figures_are_judged_one_by_one_and_the_worst_counts() {
        let times = [10.0, 10.4, 9.8, 10.2, 10.1, 10.3, 9.9];
        let program: Vec<Sample> = times.iter().map(|time| run(*time, &[1, 2, 3])).collect();
        let clone: Vec<Sample> = times.iter().map(|time| run(time + 0.1, &[1, 2, 3])).collect();
        assert_eq!(verdicts(&program, &clone), [("time", "within tolerance"), ("D", "equal")]);
        let slower: Vec<Sample> = times.iter().map(|time| run(time * 2.0, &[1, 2, 30])).collect();
        let found = validate(&program, &slower).unwrap();
        assert_eq!(found.verdict, "differs");
        assert_eq!(verdicts(&program, &slower), [("time", "differs"), ("D", "differs")]);
        assert!(found.figures[0].p_value < 0.01 && found.figures[0].distance > 0.9, "{found:?}");
        let expected = 27.0 / 3.0 / 2.0;
        let distance = found.figures[1].distance;
        assert!(
            (distance - expected).abs() < 1e-9,
            "a third of the values, 27 away, of a mean of 2: {distance}"
        );
    }

    #[test]
    fn what_one_side_does_not_have_differs() {
        let program = [run(1.0, &[1]), run(1.0, &[1])];
        let mut without = run(1.0, &[1]);
        without.0.remove(&("shared".to_owned(), "D"));
        assert_eq!(verdicts(&program, &[without]), [("time", "equal"), ("D", "differs")]);
        assert_eq!(validate(&program[..1], &program), Err(RunsError::TooFew));
    }
}
