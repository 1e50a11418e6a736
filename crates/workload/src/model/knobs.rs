//! Factors that change a model.

mod burst;
mod requests;
mod shares;
mod sharing;

use super::read_statistics::share;
use super::{
    FileKind, Model, ModelFile, ModelSession, ProgramStep, Ratio, RequestKind, SessionLayer, Sharing,
    Statistics,
};
use std::collections::BTreeMap;
use thiserror::Error;

/// What a factor changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Knob {
    /// Bytes of transfers and files, and offsets.
    Size,
    /// Requests in sessions.
    Requests,
    /// Time before requests.
    Slack,
    /// Files of a rank, and with them what is done to files.
    Files,
    /// Calls that name files and change no name.
    Metadata,
    /// The squared variation of the time before requests.
    Burst,
}

const KNOBS: [(&str, Knob); 6] = [
    ("size", Knob::Size),
    ("requests", Knob::Requests),
    ("slack", Knob::Slack),
    ("files", Knob::Files),
    ("metadata", Knob::Metadata),
    ("burst", Knob::Burst),
];

/// A share that a model gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ShareKnob {
    /// Of transfers that read.
    Reads,
    /// Of transfers that change their places with each other.
    Random,
}

const SHARES: [(&str, ShareKnob); 2] = [("reads", ShareKnob::Reads), ("random", ShareKnob::Random)];

/// A factor is a fraction of whole numbers, so that products are exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Factor {
    numerator: u128,
    denominator: u128,
}

/// What changes a model: factors, of which those of one knob are multiplied before they are applied; shares, who has files and with whose calls
/// sessions are done, of which the last one counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Knobs {
    factors: BTreeMap<Knob, Factor>,
    /// In millionths.
    shares: BTreeMap<ShareKnob, u64>,
    sharing: Option<Sharing>,
    layer: Option<SessionLayer>,
}

/// Why a knob cannot be set.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum KnobError {
    /// Not a knob with a factor.
    #[error(
        "`{0}` does not set a knob; expected size=K, requests=K, slack=K, files=K, metadata=K or burst=K with a decimal number as in 4 or 0.25, \
         reads=S or random=S with a share from 0 to 1, sharing=private or sharing=shared, layer=posix, layer=mpi-io or layer=collective"
    )]
    NotAKnob(String),
    /// Sizes must stay whole.
    #[error(
        "with this factor of size, {0} B are not a whole number of bytes, or too many; choose one that keeps sizes whole"
    )]
    NotWhole(u64),
    /// A count or time does not fit.
    #[error("with this factor, {0} is too large; choose a smaller one")]
    TooLarge(u64),
    /// A session would be empty.
    #[error("with this factor of requests, session `{0}` has none; choose a larger one")]
    Empty(String),
    /// Locks would be taken elsewhere.
    #[error(
        "so changed, session `{0}` would not take and release its locks in their order; choose a whole factor of requests, and no share of reads"
    )]
    Locks(String),
    /// Reads and writes have places of their own.
    #[error(
        "reads and writes of session `{0}` follow laws of their own, so none can become the other; give the session one law of offsets"
    )]
    TwoLaws(String),
    /// Files of all ranks in one need room for each.
    #[error("the file `{0}` cannot be shared: {1}")]
    NotShared(String, &'static str),
    /// A file cannot be used with the calls of a layer.
    #[error("the file `{0}` cannot have layer={1}: {2}")]
    NotOfLayer(String, &'static str, &'static str),
}

impl Knobs {
    /// Multiplies knobs by the factors of a text such as `size=4` or `size=4,slack=0.1`.
    ///
    /// # Errors
    /// If it is not such a text.
    pub fn set(&mut self, text: &str) -> Result<(), KnobError> {
        text.split(',').try_for_each(|one| self.set_one(one))
    }

    fn set_one(&mut self, text: &str) -> Result<(), KnobError> {
        let error = || KnobError::NotAKnob(iotrail_model::text::printable(text).into_owned());
        let (word, factor) = text.split_once('=').ok_or_else(error)?;
        if let Some((_, knob)) = SHARES.iter().find(|(known, _)| *known == word) {
            self.shares.insert(*knob, share(factor).ok_or_else(error)?);
            return Ok(());
        }
        if word == "sharing" {
            let known = [("private", Sharing::Private), ("shared", Sharing::Shared)];
            let sharing = known.iter().find(|(known, _)| *known == factor).ok_or_else(error)?;
            self.sharing = Some(sharing.1);
            return Ok(());
        }
        if word == "layer" {
            self.layer = Some(SessionLayer::named(factor).ok_or_else(error)?);
            return Ok(());
        }
        let (_, knob) = KNOBS.iter().find(|(known, _)| *known == word).ok_or_else(error)?;
        let factor = Factor::parse(factor).ok_or_else(error)?;
        let before = self.factors.get(knob).copied().unwrap_or(Factor::ONE);
        self.factors.insert(*knob, before.times(factor).ok_or_else(error)?);
        Ok(())
    }

    /// The model that `model` becomes.
    ///
    /// # Errors
    /// If a factor makes parts of bytes, empty sessions or numbers that do not fit.
    pub fn apply(&self, model: &Model) -> Result<Model, KnobError> {
        let mut model = model.clone();
        if let Some(layer) = self.layer {
            model.use_layer(layer)?;
        }
        for file in &mut model.files {
            for size in std::iter::once(&mut file.size).chain(file.lengths.iter_mut().map(|(size, _)| size)) {
                *size = self.size(*size)?;
            }
            self.apply_counts(file)?;
            for slack in &mut file.call_slack {
                *slack = self.slack(*slack)?;
            }
            if file.call_slack.iter().all(|slack| *slack == 0) {
                file.call_slack.clear();
            }
            let reads = |file: &ModelFile| {
                let counts =
                    file.sessions.iter().map(|session| session.requests.get(&RequestKind::Read).copied());
                counts.map(Option::unwrap_or_default).collect::<Vec<u64>>()
            };
            let before = reads(file);
            file.sessions.iter_mut().try_for_each(|session| self.apply_session(session))?;
            // What is read of more is there before.
            file.filled |= file.size > 0 && reads(file).iter().zip(before).any(|(now, before)| *now > before);
            self.apply_shares(file)?;
            file.statistics.iter_mut().try_for_each(|statistics| self.apply_statistics(statistics))?;
        }
        self.apply_pauses(&mut model.steps)?;
        // Parts of ranks are as long as what is done in them then.
        if let Some(wanted) = self.sharing {
            sharing::share(&mut model, wanted)?;
        }
        Ok(model)
    }

    fn apply_pauses(&self, steps: &mut [ProgramStep]) -> Result<(), KnobError> {
        for step in steps {
            match step {
                ProgramStep::Repeat(_, steps) => self.apply_pauses(steps)?,
                ProgramStep::Pause { ns, .. } => *ns = self.slack(*ns)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn apply_session(&self, session: &mut ModelSession) -> Result<(), KnobError> {
        for sizes in [&mut session.sizes, &mut session.write_sizes] {
            let scaled = sizes.iter().map(|(&size, &weight)| Ok((self.size(size)?, weight)));
            *sizes = scaled.collect::<Result<_, KnobError>>()?;
        }
        for (size, _) in session.runs.iter_mut().chain(&mut session.write_runs) {
            *size = self.size(*size)?;
        }
        for law in std::iter::once(&mut session.offset).chain(&mut session.write_offset) {
            *law = law.with_bytes(|bytes| self.size(bytes))?;
        }
        if let Some(length) = &mut session.length {
            length.bytes = i64::try_from(self.size(length.bytes.unsigned_abs())?).unwrap_or(i64::MAX);
        }
        session.slack = self.times(&session.slack)?;
        let (was_empty, counted) = (session.requests.is_empty(), session.counted());
        let requests = session.requests.clone();
        for count in session.requests.values_mut() {
            *count = self.rounded(Knob::Requests, *count, super::read::MAX_REQUESTS)?;
        }
        session.requests.retain(|_, count| *count > 0);
        requests::lengthen(session, &requests)?;
        session.counted = if session.steps() == counted { 0 } else { counted };
        if session.requests.is_empty() && !was_empty {
            return Err(KnobError::Empty(session.name.clone()));
        }
        if session.requests != requests && session.rounds().is_none() {
            requests::shorten_order(session, &requests);
            if session.order.is_empty() && session.has_locks() {
                return Err(KnobError::Locks(session.name.clone()));
            }
        }
        let has = |kind| session.requests.contains_key(&kind);
        if !has(RequestKind::Read) && !session.write_sizes.is_empty() {
            session.sizes = std::mem::take(&mut session.write_sizes);
            session.runs = std::mem::take(&mut session.write_runs);
        }
        if let Some(law) = session.write_offset.take_if(|_| !has(RequestKind::Read)) {
            session.offset = law;
        }
        if !has(RequestKind::Read) || !has(RequestKind::Write) {
            session.write_offset = None;
        }
        if !has(RequestKind::Write) {
            session.write_sizes.clear();
            session.write_runs.clear();
        }
        if !session.requests.keys().any(|kind| kind.is_transfer()) {
            session.sizes.clear();
        }
        let count = |kind| session.requests.get(&kind).copied().unwrap_or_default();
        let (reads, writes) = (count(RequestKind::Read), count(RequestKind::Write));
        let of_size = if session.write_sizes.is_empty() { reads + writes } else { reads };
        cut(&mut session.runs, &mut session.sizes, of_size);
        cut(&mut session.write_runs, &mut session.write_sizes, writes);
        Ok(())
    }

    /// More or fewer files, and calls that name them.
    fn apply_counts(&self, file: &mut ModelFile) -> Result<(), KnobError> {
        let count = self.rounded(Knob::Files, file.count, super::read::MAX_COUNT)?.max(1);
        if file.statistics.is_empty() {
            let more = Ratio::reduced(count, file.count).and_then(|ratio| file.times.times(ratio));
            file.times = more.ok_or(KnobError::TooLarge(count))?;
            let Factor { numerator, denominator } = self.factor(Knob::Metadata);
            let factor = u64::try_from(numerator).ok().zip(u64::try_from(denominator).ok());
            let calls = factor.and_then(|(numerator, denominator)| Ratio::reduced(numerator, denominator));
            let calls = calls.and_then(|ratio| file.call_times.times(ratio));
            file.call_times = calls.ok_or(KnobError::TooLarge(count))?;
        }
        for statistics in &mut file.statistics {
            let files = |files| self.rounded(Knob::Files, files, super::read::MAX_COUNT);
            statistics.files = turned(&statistics.files, files)?;
            for (call, count) in &mut statistics.calls {
                let knob = if call.changes_names() { Knob::Files } else { Knob::Metadata };
                *count = self.rounded(knob, *count, super::read::MAX_REQUESTS)?;
            }
            statistics.calls.retain(|_, count| *count > 0);
        }
        if count > 1 && !file.name.contains("%i") {
            file.name.push_str(".%i");
        }
        file.count = count;
        Ok(())
    }

    /// The same for what is drawn.
    fn apply_statistics(&self, statistics: &mut Statistics) -> Result<(), KnobError> {
        let sizes = [&mut statistics.sizes, &mut statistics.write_sizes];
        for sizes in sizes.into_iter().chain([&mut statistics.offsets, &mut statistics.write_offsets]) {
            *sizes = turned(sizes, |size| self.size(size))?;
        }
        statistics.file_size = self.size(statistics.file_size)?;
        statistics.slack = self.times(&statistics.slack)?;
        let reads = self.shares.get(&ShareKnob::Reads);
        reads.into_iter().for_each(|share| shares::read_statistics(statistics, *share));
        let random = self.shares.get(&ShareKnob::Random);
        random.into_iter().for_each(|share| shares::random_statistics(statistics, *share));
        let depth = |depth: u64| {
            let requests =
                self.rounded(Knob::Requests, depth.saturating_sub(1), super::read::MAX_REQUESTS)?;
            Ok(requests + 1)
        };
        statistics.depth = turned(&statistics.depth, depth)?;
        Ok(())
    }

    /// Shares of reads and of transfers at random places; a file that is read where nobody wrote holds that before.
    fn apply_shares(&self, file: &mut ModelFile) -> Result<(), KnobError> {
        if let Some(share) = self.shares.get(&ShareKnob::Random) {
            file.sessions.iter_mut().for_each(|session| session.random = *share);
        }
        let Some(share) = self.shares.get(&ShareKnob::Reads) else { return Ok(()) };
        if let Some(session) = file.sessions.iter().find(|session| session.has_locks()) {
            return Err(KnobError::Locks(session.name.clone()));
        }
        file.filled |= *share > 0 && file.kind == FileKind::File;
        if file.filled {
            file.sessions.iter_mut().for_each(|session| session.mode.truncate = false);
        }
        file.sessions.iter_mut().try_for_each(|session| shares::read_session(session, *share))
    }

    /// Times with weights, longer or shorter, and more or less varied.
    fn times(&self, times: &BTreeMap<u64, u64>) -> Result<BTreeMap<u64, u64>, KnobError> {
        let times = turned(times, |slack| self.slack(slack))?;
        let Factor { numerator, denominator } = self.factor(Knob::Burst);
        let is_one = numerator == denominator;
        Ok(if is_one { times } else { burst::burst(&times, numerator as f64 / denominator as f64) })
    }

    fn slack(&self, ns: u64) -> Result<u64, KnobError> {
        self.rounded(Knob::Slack, ns, i64::MAX as u64)
    }

    fn size(&self, bytes: u64) -> Result<u64, KnobError> {
        let Factor { numerator, denominator } = self.factor(Knob::Size);
        let product =
            u128::from(bytes).checked_mul(numerator).filter(|product| product.is_multiple_of(denominator));
        let scaled = product.and_then(|product| i64::try_from(product / denominator).ok());
        scaled.and_then(|scaled| u64::try_from(scaled).ok()).ok_or(KnobError::NotWhole(bytes))
    }

    /// The nearest whole number, halves up.
    fn rounded(&self, knob: Knob, value: u64, max: u64) -> Result<u64, KnobError> {
        let Factor { numerator, denominator } = self.factor(knob);
        let double = u128::from(value).checked_mul(numerator).and_then(|product| product.checked_mul(2));
        let scaled =
            double.and_then(|double| double.checked_add(denominator)).map(|sum| sum / (2 * denominator));
        let fitting = scaled.and_then(|scaled| u64::try_from(scaled).ok()).filter(|scaled| *scaled <= max);
        fitting.ok_or(KnobError::TooLarge(value))
    }

    fn factor(&self, knob: Knob) -> Factor {
        self.factors.get(&knob).copied().unwrap_or(Factor::ONE)
    }
}

/// Of so many transfers the runs of sizes, and the sizes that these come to; no runs if that is one size.
fn cut(runs: &mut Vec<(u64, u64)>, sizes: &mut BTreeMap<u64, u64>, transfers: u64) {
    if runs.is_empty() {
        return;
    }
    *sizes = super::read::summed(runs, transfers);
    let mut left = transfers;
    for (_, count) in runs.iter_mut() {
        *count = left.min(*count);
        left -= *count;
    }
    runs.retain(|(_, count)| *count > 0);
    if runs.len() == 1 {
        runs.clear();
    }
}

/// Values with weights, changed; values that become equal are one.
fn turned(
    values: &BTreeMap<u64, u64>,
    turn: impl Fn(u64) -> Result<u64, KnobError>,
) -> Result<BTreeMap<u64, u64>, KnobError> {
    let mut out = BTreeMap::new();
    for (value, weight) in values {
        *out.entry(turn(*value)?).or_default() += weight;
    }
    Ok(out)
}

impl Factor {
    const ONE: Self = Self { numerator: 1, denominator: 1 };
    /// Largest numerator and denominator.
    const MAX: u128 = 1 << 60;

    /// Of a decimal number above 0.
    fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = format!("{whole}{fraction}");
        if whole.is_empty() || digits.len() > 18 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        Self { numerator: digits.parse().ok()?, denominator: 10_u128.pow(fraction.len() as u32) }.reduced()
    }

    fn times(self, other: Self) -> Option<Self> {
        let numerator = self.numerator.checked_mul(other.numerator)?;
        Self { numerator, denominator: self.denominator.checked_mul(other.denominator)? }.reduced()
    }

    fn reduced(self) -> Option<Self> {
        let (mut divisor, mut rest) = (self.numerator, self.denominator);
        while rest > 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        let reduced = Self { numerator: self.numerator / divisor, denominator: self.denominator / divisor };
        (reduced.numerator > 0 && reduced.numerator.max(reduced.denominator) <= Self::MAX).then_some(reduced)
    }
}
