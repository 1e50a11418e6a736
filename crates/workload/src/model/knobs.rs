//! Factors that change a model.

use super::{Model, ModelSession, OffsetLaw, RequestKind};
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
}

const KNOBS: [(&str, Knob); 3] = [("size", Knob::Size), ("requests", Knob::Requests), ("slack", Knob::Slack)];

/// A factor is a fraction of whole numbers, so that products are exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Factor {
    numerator: u128,
    denominator: u128,
}

/// Factors by what they change; those of one knob are multiplied before they are applied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Knobs(BTreeMap<Knob, Factor>);

/// Why a knob cannot be set.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum KnobError {
    /// Not a knob with a factor.
    #[error(
        "`{0}` does not set a knob; expected size=K, requests=K or slack=K with a decimal number as in 4 or 0.25"
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
        let (_, knob) = KNOBS.iter().find(|(known, _)| *known == word).ok_or_else(error)?;
        let factor = Factor::parse(factor).ok_or_else(error)?;
        let before = self.0.get(knob).copied().unwrap_or(Factor::ONE);
        self.0.insert(*knob, before.times(factor).ok_or_else(error)?);
        Ok(())
    }

    /// The model that `model` becomes.
    ///
    /// # Errors
    /// If a factor makes parts of bytes, empty sessions or numbers that do not fit.
    pub fn apply(&self, model: &Model) -> Result<Model, KnobError> {
        let mut model = model.clone();
        for file in &mut model.files {
            file.size = self.size(file.size)?;
            file.call_slack = self.slack(file.call_slack)?;
            file.sessions.iter_mut().try_for_each(|session| self.apply_session(session))?;
        }
        Ok(model)
    }

    fn apply_session(&self, session: &mut ModelSession) -> Result<(), KnobError> {
        for sizes in [&mut session.sizes, &mut session.write_sizes] {
            let scaled = sizes.iter().map(|(&size, &weight)| Ok((self.size(size)?, weight)));
            *sizes = scaled.collect::<Result<_, KnobError>>()?;
        }
        for (size, _) in &mut session.runs {
            *size = self.size(*size)?;
        }
        for law in std::iter::once(&mut session.offset).chain(&mut session.write_offset) {
            if let OffsetLaw::Affine { start, rank, step, again, jump, .. } = law {
                for part in [start, rank, &mut step.bytes, &mut again.bytes, &mut jump.bytes] {
                    *part = self.size(*part)?;
                }
            }
        }
        let mut slack = BTreeMap::new();
        for (time, weight) in &session.slack {
            *slack.entry(self.slack(*time)?).or_default() += weight;
        }
        session.slack = slack;
        let (was_empty, counted) = (session.requests.is_empty(), session.counted());
        let requests = session.requests.clone();
        for count in session.requests.values_mut() {
            *count = self.rounded(Knob::Requests, *count, super::read::MAX_REQUESTS)?;
        }
        session.requests.retain(|_, count| *count > 0);
        session.counted = if session.steps() == counted { 0 } else { counted };
        if session.requests.is_empty() && !was_empty {
            return Err(KnobError::Empty(session.name.clone()));
        }
        if session.requests != requests {
            session.order.clear();
        }
        let has = |kind| session.requests.contains_key(&kind);
        if !has(RequestKind::Read) && !session.write_sizes.is_empty() {
            session.sizes = std::mem::take(&mut session.write_sizes);
        }
        if let Some(law) = session.write_offset.filter(|_| !has(RequestKind::Read)) {
            session.offset = law;
        }
        if !has(RequestKind::Read) || !has(RequestKind::Write) {
            session.write_offset = None;
        }
        if !has(RequestKind::Write) {
            session.write_sizes.clear();
        }
        if !session.requests.keys().any(|kind| kind.is_transfer()) {
            session.sizes.clear();
        }
        let transfers: u64 =
            session.requests.iter().filter(|(kind, _)| kind.is_transfer()).map(|(_, count)| count).sum();
        if session.runs.iter().map(|(_, count)| count).sum::<u64>() != transfers {
            session.runs.clear();
        }
        Ok(())
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
        self.0.get(&knob).copied().unwrap_or(Factor::ONE)
    }
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
