//! Lines that begin with a call: whole, or its first half.

use super::arguments::Arguments;
use super::broken::Breaker;
use super::escape::Scratch;
use super::kind::Kind;
use super::marks::{DETACHED, cut_by_death, first_half, is_renamed};
use super::outcome::Outcome;
use super::pending::Half;
use super::reading::{Reading, name_length};
use super::sink::{Out, Sink};
use super::{Parser, noise, output, rights};
use iotrail_import::Prefix;
use iotrail_model::raw::{RawCall, RawItem, Return};
use iotrail_model::{Nanos, Tid, Timestamp};

/// Whose call it is and when it began.
#[derive(Clone, Copy)]
pub(super) enum Origin<'a> {
    /// From the first half.
    Known(Tid, Timestamp),
    /// What stands in front of the line says so, provided that the line is a call at all.
    Line(&'a Prefix<'a>),
}

/// A call that returned, beside its arguments.
struct Returned<'a> {
    tid: Tid,
    start: Timestamp,
    dur: Option<Nanos>,
    ret: Return<'a>,
    /// Whether its entry was reported.
    announced: bool,
}

impl Parser {
    #[inline]
    pub(super) fn call(&mut self, prefix: &Prefix<'_>, out: &mut Out<'_, impl Sink>) -> Option<Kind> {
        let text = prefix.rest;
        name_length(text)?;
        if let Some(half) = first_half(text) {
            let (tid, start) = self.beginner(prefix, out);
            if text.ends_with(DETACHED) {
                out.emit(RawItem::Escaped { tid, table: true });
            }
            if !self.is_continued(tid, half) {
                self.enter(tid, start, half, out);
            }
            self.keep(tid, start, half, out);
            self.renamed = is_renamed(text).then_some(tid);
            return Some(Kind::Unfinished);
        }
        if let Some(half) = cut_by_death(text) {
            let (tid, start) = self.beginner(prefix, out);
            self.abandon(&Half { tid, start, text: half.to_vec() }, out);
            return Some(Kind::Event);
        }
        if self.complete(Origin::Line(prefix), text, out) {
            return Some(Kind::Event);
        }
        if let Some((at, child)) = noise::interruption(text) {
            self.interrupt(prefix, &text[..at], Breaker::Message, out);
            self.threads.appeared(child);
            return Some(Kind::Noise(noise::ATTACH));
        }
        let at = output::begins(text)?;
        self.interrupt(prefix, &text[..at], Breaker::Output, out);
        Some(Kind::Unfinished)
    }

    /// Reads a whole call and reports it; `false` if it is none.
    #[inline]
    pub(super) fn complete(&mut self, origin: Origin<'_>, text: &[u8], out: &mut Out<'_, impl Sink>) -> bool {
        self.with_scratch(text, |parser, text, scratch| {
            parser.complete_with(scratch, origin, text, out).is_some()
        })
    }

    #[inline]
    fn complete_with<'s>(
        &mut self,
        scratch: &mut Scratch<'s>,
        origin: Origin<'_>,
        text: &'s [u8],
        out: &mut Out<'_, impl Sink>,
    ) -> Option<()> {
        let arguments = &mut Arguments::default();
        let reading = Reading::of(text, out.names, scratch, arguments)?;
        let outcome = Outcome::read(&text[reading.arguments.end?..], scratch)?;
        let (tid, start) = match origin {
            Origin::Known(tid, start) => (tid, start),
            Origin::Line(prefix) => self.beginner(prefix, out),
        };
        if let Some(how) = outcome.restarts {
            self.is_interrupted((tid, start), origin, (text, &reading), (how, outcome.dur), out);
            return Some(());
        }
        if let Some(dur) = outcome.dur {
            self.steps.ended(tid, start + dur);
        }
        if let Some(first) = self.continued(tid, text) {
            let dur = outcome.dur.map(|dur| first.lasted(start, dur));
            self.with_scratch(first.gone_on_with(text), |parser, text, scratch| {
                let arguments = &mut Arguments::default();
                let reading = Reading::of(text, out.names, scratch, arguments)?;
                let returned = Returned { tid, start: first.start, dur, ret: outcome.ret, announced: true };
                parser.returned(&returned, text, &reading, scratch, out);
                Some(())
            })?;
            return Some(());
        }
        let announced = matches!(origin, Origin::Known(..));
        let returned = Returned { tid, start, dur: outcome.dur, ret: outcome.ret, announced };
        self.returned(&returned, text, &reading, scratch, out);
        self.goes_on(tid, text, reading.without_comm(outcome.ret), out);
        Some(())
    }

    /// Reports a call that returned.
    #[inline]
    fn returned<'s>(
        &mut self,
        returned: &Returned<'_>,
        text: &'s [u8],
        reading: &Reading<'_, '_>,
        scratch: &mut Scratch<'s>,
        out: &mut Out<'_, impl Sink>,
    ) {
        let Returned { tid, start, dur, .. } = *returned;
        let ret = reading.without_comm(returned.ret);
        if let (true, Return::Value(child @ 1.., _)) = (reading.makes_process(), ret) {
            let child = u32::try_from(child).ok();
            if !self.threads.are_followed(child) {
                let table = reading.shares_table();
                out.emit(RawItem::Escaped { tid, table });
            }
            self.threads.appeared(child);
        }
        if !returned.announced {
            rights::emit_sent(reading.name, tid, text, out);
        }
        self.coverage.cut_arguments += u64::from(reading.arguments.cut);
        self.interruptions.see(reading.name);
        if reading.ends_what_was() {
            self.forgets(tid, out);
        }
        let entered = reading.entered(tid, start, out.names);
        out.emit(RawItem::Call(RawCall { dur, ret, ..entered }));
        if matches!(ret, Return::Value(..)) {
            rights::emit_received(reading.name, tid, text, scratch, out);
        }
    }
}
