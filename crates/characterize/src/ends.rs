//! Where requests are that say it in another way: reads that find the end of a file, and what is copied to one.
//!
//! Who reads until nothing comes goes on where it asked to, not where the file happened to end.
//!
//! `cat` asks for 128 KiB at the begin of a file of 1 kB, and again behind it. Both are one law for files of every length (each read where the
//! one before was to end); the place of the second one says only how long the file was.

use crate::gather::{Half, RequestRow};
use iotrail_model::calls::CallKind;
use iotrail_model::{Nullable, OpenId};
use std::collections::HashMap;

/// Where reads came to an end, by open file description.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    found: HashMap<OpenId, End>,
}

#[derive(Clone, Copy, Debug)]
struct End {
    /// Behind the last byte that there was.
    at: i64,
    /// Behind the last one that was asked for.
    asked: i64,
}

impl Ends {
    /// Where the request is, in bytes: of a read that moved nothing, at the end that the one before found, what that one asked for ends there.
    pub(crate) fn place(&mut self, kind: CallKind, request: RequestRow) -> Nullable<i64> {
        let Some(open) = request.open.get() else { return request.offset };
        let (Some(offset), Some(size), CallKind::Read) = (request.offset.get(), request.size.get(), kind)
        else {
            if matches!(kind, CallKind::Write | CallKind::Truncate | CallKind::Close) {
                self.found.remove(&open);
            }
            return request.offset;
        };
        match (request.end.get(), self.found.get_mut(&open)) {
            (None, Some(end)) if end.at == offset && !request.failed => {
                let place = end.asked;
                end.asked = place.saturating_add(size);
                return Nullable::some(place);
            }
            (Some(at), _) if at.saturating_sub(offset) < size => {
                self.found.insert(open, End { at, asked: offset.saturating_add(size) });
            }
            _ => drop(self.found.remove(&open)),
        }
        request.offset
    }
}

/// Where each open file description stands, as far as requests tell: what is copied to it goes there.
#[derive(Debug, Default)]
pub(crate) struct Cursors {
    at: HashMap<OpenId, i64>,
}

impl Cursors {
    /// Where the request is: of what is copied into a file where its description stands, in bytes; NULL if that is not known.
    pub(crate) fn place(&mut self, kind: CallKind, request: RequestRow) -> RequestRow {
        let Some(open) = request.open.get() else { return request };
        let known = self.at.get(&open).copied();
        let placed = match (request.half, request.size.get()) {
            (Some(Half::Into), Some(size)) => {
                let end = known.map(|at| at.saturating_add(size));
                RequestRow { offset: known.into(), end: end.into(), ..request }
            }
            _ => request,
        };
        match (kind, placed.end.get()) {
            (CallKind::Open | CallKind::Create, _) => drop(self.at.insert(open, 0)),
            (CallKind::Seek | CallKind::Close, _) => drop(self.at.remove(&open)),
            (_, Some(end)) => drop(self.at.insert(open, end)),
            (_, None) => {}
        }
        placed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(offset: i64, asked: i64, moved: i64) -> RequestRow {
        RequestRow {
            failed: false,
            open: Nullable::some(OpenId(1)),
            offset: Nullable::some(offset),
            size: Nullable::some(asked),
            end: (moved > 0).then_some(offset + moved).into(),
            ..RequestRow::of_nothing()
        }
    }

    #[test]
    fn reads_at_the_end_go_on_where_the_one_before_was_to_end() {
        let mut ends = Ends::default();
        let mut place =
            |offset, asked, moved| ends.place(CallKind::Read, request(offset, asked, moved)).get();
        assert_eq!(place(0, 100, 30), Some(0));
        assert_eq!((place(30, 100, 0), place(30, 50, 0)), (Some(100), Some(200)));
        assert_eq!(place(30, 100, 100), Some(30), "it has grown");
        assert_eq!(place(130, 100, 0), Some(130), "the end was where it was asked for");
        assert_eq!(place(0, 10, 5), Some(0));
        assert_eq!(place(7, 10, 0), Some(7), "elsewhere");
    }

    #[test]
    fn copies_go_where_the_description_stands() {
        let mut cursors = Cursors::default();
        let copy = |size| RequestRow {
            half: Some(Half::Into),
            open: Nullable::some(OpenId(1)),
            size: Nullable::some(size),
            ..RequestRow::of_nothing()
        };
        let other = |kind, cursors: &mut Cursors| cursors.place(kind, request(0, 10, 10));
        assert!(cursors.place(CallKind::Write, copy(5)).offset.is_null(), "nobody saw it being opened");
        other(CallKind::Open, &mut cursors);
        let mut place = |size| cursors.place(CallKind::Write, copy(size)).offset.get();
        assert_eq!((place(5), place(7), place(1)), (Some(0), Some(5), Some(12)));
        other(CallKind::Seek, &mut cursors);
        assert!(cursors.place(CallKind::Write, copy(5)).offset.is_null());
        other(CallKind::Write, &mut cursors);
        assert_eq!(cursors.place(CallKind::Write, copy(5)).offset.get(), Some(10));
    }

    #[test]
    fn what_is_written_moves_the_end() {
        let mut ends = Ends::default();
        assert_eq!(ends.place(CallKind::Read, request(0, 100, 30)).get(), Some(0));
        assert_eq!(ends.place(CallKind::Write, request(30, 5, 5)).get(), Some(30));
        assert_eq!(ends.place(CallKind::Read, request(30, 100, 0)).get(), Some(30));
    }
}
