//! An event in few bytes: what can be predicted from the events before it in the block is not stored.
//!
//! Writer and reader keep the same [`Prediction`]; it starts empty in each block. What seldom changes for one call (which
//! columns are NULL, the error, the flags) is its shape and is stored where it differs from that of the last event of
//! the same call. What belongs to a descriptor (path, position, bytes asked for) is predicted from the last event of that
//! descriptor; what file a path denotes, from the last event with that path. Ids of names are the piece's own, numbers of
//! files are those of the recorder.

use crate::format::{Head, MAX_NAMES};
use crate::plain;
use iotrail_model::varint::{Cursor, put, put_signed};
use iotrail_model::{
    CallId, CaseId, ErrnoId, Event, FileId, FlagsId, Layer, Nanos, Nullable, OpenId, PathId, Pid, Tid,
    Timestamp,
};

/// Calls with larger ids have no remembered shape.
const MAX_SHAPES: usize = 1024;
/// Descriptors that are told apart, and one place for events without.
const SLOTS: usize = 64;

/// Bits of the byte that each event has.
mod saving {
    pub(super) const OTHER_THREAD: u8 = 1;
    pub(super) const OTHER_SEQ: u8 = 2;
    pub(super) const EARLIER: u8 = 4;
    pub(super) const SAME_FD: u8 = 8;
    pub(super) const SAME_PATH: u8 = 16;
    pub(super) const NEXT_OFFSET: u8 = 32;
    pub(super) const SAME_REQUESTED: u8 = 64;
    pub(super) const SIZE_AS_REQUESTED: u8 = 128;
}

/// Bits of a shape.
mod has {
    pub(super) const DUR: u64 = 1;
    pub(super) const FD: u64 = 2;
    pub(super) const PATH: u64 = 4;
    pub(super) const PATH2: u64 = 8;
    pub(super) const OFFSET: u64 = 16;
    pub(super) const REQUESTED: u64 = 32;
    pub(super) const SIZE: u64 = 64;
    pub(super) const ERRNO: u64 = 128;
    pub(super) const FLAGS: u64 = 256;
    /// Another case than 0 or another layer than system calls.
    pub(super) const PLACE: u64 = 512;
    /// What `ret` is, in two bits.
    pub(super) const RET: u64 = 3 << 10;
    pub(super) const RET_AS_USUAL: u64 = 1 << 10;
    pub(super) const RET_FD: u64 = 2 << 10;
    pub(super) const RET_OTHER: u64 = 3 << 10;
    /// Which file it is, in two bits.
    pub(super) const FILE: u64 = 3 << 12;
    pub(super) const FILE_AS_USUAL: u64 = 1 << 12;
    pub(super) const FILE_OTHER: u64 = 2 << 12;
    pub(super) const FILE2: u64 = 1 << 14;
    /// Which open file description it is, in two bits.
    pub(super) const OPEN: u64 = 3 << 15;
    pub(super) const OPEN_AS_USUAL: u64 = 1 << 15;
    pub(super) const OPEN_OTHER: u64 = 2 << 15;
    pub(super) const OPEN2: u64 = 1 << 17;
    /// All of them, and those of plain columns.
    pub(super) const ALL: u64 = ((1 << 18) - 1) | crate::plain::ALL;
}

/// What seldom changes for one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    bits: u64,
    errno: Nullable<ErrnoId>,
    flags: Nullable<FlagsId>,
    case: CaseId,
    layer: Layer,
}

impl Shape {
    /// No event has it.
    const NONE: Self = Self {
        bits: u64::MAX,
        errno: Nullable::NULL,
        flags: Nullable::NULL,
        case: CaseId(0),
        layer: Layer::Syscall,
    };

    #[inline]
    fn of(event: &Event, usual_file: Nullable<FileId>, usual_open: Nullable<OpenId>) -> Self {
        let bit = |is_null: bool, bit| if is_null { 0 } else { bit };
        let bits = bit(event.dur.is_null(), has::DUR)
            | bit(event.fd.is_null(), has::FD)
            | bit(event.path.is_null(), has::PATH)
            | bit(event.path2.is_null(), has::PATH2)
            | bit(event.offset.is_null(), has::OFFSET)
            | bit(event.requested.is_null(), has::REQUESTED)
            | bit(event.size.is_null(), has::SIZE)
            | bit(event.errno.is_null(), has::ERRNO)
            | bit(event.flags.is_null(), has::FLAGS)
            | bit(event.case == CaseId(0) && event.layer == Layer::Syscall, has::PLACE)
            | bit(event.file2.is_null(), has::FILE2)
            | bit(event.open2.is_null(), has::OPEN2)
            | file_bits(event, usual_file)
            | open_bits(event, usual_open)
            | ret_bits(event)
            | plain::bits(event);
        Self { bits, errno: event.errno, flags: event.flags, case: event.case, layer: event.layer }
    }

    fn put(self, out: &mut Vec<u8>) {
        put(out, self.bits);
        if self.has(has::ERRNO) {
            put(out, u64::from(self.errno.raw().0));
        }
        if self.has(has::FLAGS) {
            put(out, u64::from(self.flags.raw().0));
        }
        if self.has(has::PLACE) {
            put(out, u64::from(self.case.0));
            out.push(self.layer as u8);
        }
    }

    fn read(from: &mut Cursor<'_>) -> Option<Self> {
        let bits = from.number().filter(|bits| bits & !has::ALL == 0)?;
        let mut shape = Self { bits, ..Self::NONE };
        if shape.has(has::ERRNO) {
            shape.errno = Nullable::some(ErrnoId(name(from)?));
        }
        if shape.has(has::FLAGS) {
            shape.flags = Nullable::some(FlagsId(name(from)?));
        }
        if shape.has(has::PLACE) {
            shape.case = CaseId(from.small()?);
            shape.layer = *Layer::ALL.get(usize::from(from.byte()?))?;
        }
        Some(shape)
    }

    #[inline]
    const fn has(self, bit: u64) -> bool {
        self.bits & bit != 0
    }
}

#[inline]
fn file_bits(event: &Event, usual: Nullable<FileId>) -> u64 {
    match event.file {
        file if file.is_null() => 0,
        file if file == usual => has::FILE_AS_USUAL,
        _ => has::FILE_OTHER,
    }
}

#[inline]
fn open_bits(event: &Event, usual: Nullable<OpenId>) -> u64 {
    match event.open {
        open if open.is_null() => 0,
        open if open == usual => has::OPEN_AS_USUAL,
        _ => has::OPEN_OTHER,
    }
}

#[inline]
fn ret_bits(event: &Event) -> u64 {
    match event.ret.get() {
        None => 0,
        Some(ret) if ret == usual_ret(event) => has::RET_AS_USUAL,
        Some(ret) if event.fd.get().map(i64::from) == Some(ret) => has::RET_FD,
        Some(_) => has::RET_OTHER,
    }
}

/// What most calls return that failed, that moved bytes, or that did neither.
#[inline]
fn usual_ret(event: &Event) -> i64 {
    if event.errno.is_null() { event.size.get().unwrap_or(0) } else { -1 }
}

/// The last event of a descriptor.
#[derive(Clone, Copy, Debug)]
struct Slot {
    path: Nullable<PathId>,
    /// Where its transfer ended.
    offset: i64,
    requested: i64,
    open: Nullable<OpenId>,
}

const EMPTY: Slot = Slot { path: Nullable::NULL, offset: 0, requested: 0, open: Nullable::NULL };

/// What the events of a block up to here let one expect.
#[derive(Debug)]
pub(crate) struct Prediction {
    pid: Pid,
    tid: Tid,
    /// The next `seq`.
    seq: u64,
    /// When the last event ended.
    time: i64,
    fd: i32,
    /// The last file.
    file: u32,
    /// The last open file description.
    open: u32,
    shapes: Vec<Shape>,
    slots: [Slot; SLOTS + 1],
    /// Paths and the files that they denoted last.
    files: [(Nullable<PathId>, Nullable<FileId>); SLOTS],
}

impl Default for Prediction {
    fn default() -> Self {
        Self {
            pid: Pid(0),
            tid: Tid(0),
            seq: 0,
            time: 0,
            fd: 0,
            file: 0,
            open: 0,
            shapes: Vec::new(),
            slots: [EMPTY; SLOTS + 1],
            files: [(Nullable::NULL, Nullable::NULL); SLOTS],
        }
    }
}

impl Prediction {
    /// Forgets everything; keeps the memory.
    pub(crate) fn reset(&mut self) {
        let mut shapes = std::mem::take(&mut self.shapes);
        shapes.clear();
        *self = Self { shapes, ..Self::default() };
    }

    #[inline]
    fn slot(&mut self, fd: Nullable<i32>) -> &mut Slot {
        let index = fd.get().map_or(SLOTS, |fd| fd as usize % SLOTS);
        &mut self.slots[index]
    }

    #[inline]
    fn shape(&mut self, call: CallId) -> Option<&mut Shape> {
        let index = call.index();
        if index >= MAX_SHAPES {
            return None;
        }
        if index >= self.shapes.len() {
            self.shapes.resize(index + 1, Shape::NONE);
        }
        self.shapes.get_mut(index)
    }

    /// The file that `path` denoted last, if it is remembered.
    #[inline]
    fn usual_file(&self, path: Nullable<PathId>) -> Nullable<FileId> {
        let (known, file) = self.files[path.raw().index() % SLOTS];
        if known == path { file } else { Nullable::NULL }
    }

    #[inline]
    fn learn(&mut self, event: &Event) {
        (self.pid, self.tid, self.seq) = (event.pid, event.tid, event.seq.wrapping_add(1));
        self.time = event.start.0.wrapping_add(event.dur.get().map_or(0, |dur| dur.0));
        self.fd = event.fd.get().unwrap_or(self.fd);
        let slot = self.slot(event.fd);
        if !event.path.is_null() {
            slot.path = event.path;
        }
        if let Some(offset) = event.offset.get() {
            slot.offset = offset.wrapping_add(event.size.get().unwrap_or(0));
        }
        slot.requested = event.requested.get().unwrap_or(slot.requested);
        if let Some(open) = event.open.get() {
            slot.open = event.open;
            self.open = open.0;
        }
        if let Some(file) = event.file.get() {
            self.file = file.0;
            self.files[event.path.raw().index() % SLOTS] = (event.path, event.file);
        }
    }
}

/// Appends an event to `out`.
pub(crate) fn encode(event: &Event, state: &mut Prediction, out: &mut Vec<u8>) {
    let slot = *state.slot(event.fd);
    let shape = Shape::of(event, state.usual_file(event.path), slot.open);
    let known = state.shape(event.call);
    let is_known = known.as_deref() == Some(&shape);
    if let Some(known) = known {
        *known = shape;
    }
    put(out, Head::EVENT + (u64::from(event.call.0) << 1 | u64::from(is_known)));
    let savings = out.len();
    out.push(0);
    if !is_known {
        shape.put(out);
    }
    let mut saved = 0;
    if (event.pid, event.tid) != (state.pid, state.tid) {
        saved |= saving::OTHER_THREAD;
        put_signed(out, i64::from(event.tid.0) - i64::from(state.tid.0));
        put_signed(out, i64::from(event.pid.0) - i64::from(event.tid.0));
    }
    if event.seq != state.seq {
        saved |= saving::OTHER_SEQ;
        put_signed(out, event.seq.wrapping_sub(state.seq) as i64);
    }
    let later = event.start.0.wrapping_sub(state.time);
    if later < 0 {
        saved |= saving::EARLIER;
    }
    put(out, later.unsigned_abs());
    if let Some(dur) = event.dur.get() {
        put_signed(out, dur.0);
    }
    if let Some(fd) = event.fd.get() {
        if fd == state.fd {
            saved |= saving::SAME_FD;
        } else {
            put_signed(out, i64::from(fd));
        }
    }
    if let Some(path) = event.path.get() {
        if event.path == slot.path {
            saved |= saving::SAME_PATH;
        } else {
            put(out, u64::from(path.0));
        }
    }
    if let Some(path) = event.path2.get() {
        put(out, u64::from(path.0));
    }
    if let Some(offset) = event.offset.get() {
        if offset == slot.offset {
            saved |= saving::NEXT_OFFSET;
        } else {
            put_signed(out, offset.wrapping_sub(slot.offset));
        }
    }
    if let Some(requested) = event.requested.get() {
        if requested == slot.requested {
            saved |= saving::SAME_REQUESTED;
        } else {
            put_signed(out, requested);
        }
    }
    if let Some(size) = event.size.get() {
        if event.requested == event.size {
            saved |= saving::SIZE_AS_REQUESTED;
        } else {
            put_signed(out, size);
        }
    }
    if shape.bits & has::RET == has::RET_OTHER {
        put_signed(out, event.ret.raw());
    }
    if shape.bits & has::FILE == has::FILE_OTHER {
        put_signed(out, i64::from(event.file.raw().0) - i64::from(state.file));
    }
    if let Some(file) = event.file2.get() {
        put_signed(out, i64::from(file.0) - i64::from(state.file));
    }
    if shape.bits & has::OPEN == has::OPEN_OTHER {
        put_signed(out, i64::from(event.open.raw().0) - i64::from(state.open));
    }
    if let Some(open) = event.open2.get() {
        put_signed(out, i64::from(open.0) - i64::from(state.open));
    }
    plain::put(event, out);
    out[savings] = saved;
    state.learn(event);
}

/// The event whose record goes on in `from` after the number `head`; `None` if it is none.
pub(crate) fn decode(head: u64, from: &mut Cursor<'_>, state: &mut Prediction) -> Option<Event> {
    let code = head.checked_sub(Head::EVENT)?;
    let call = CallId(u32::try_from(code >> 1).ok().filter(|id| *id < MAX_NAMES)?);
    let saved = from.byte()?;
    let saves = |bit: u8| saved & bit != 0;
    let shape = if code & 1 == 1 { *state.shape(call)? } else { Shape::read(from)? };
    if shape == Shape::NONE {
        return None;
    }
    if let Some(known) = state.shape(call) {
        *known = shape;
    }
    let mut event = Event {
        case: shape.case,
        layer: shape.layer,
        call,
        errno: shape.errno,
        flags: shape.flags,
        pid: state.pid,
        tid: state.tid,
        seq: state.seq,
        ..Event::default()
    };
    if saves(saving::OTHER_THREAD) {
        event.tid = Tid(near(state.tid.0, from.signed()?)?);
        event.pid = Pid(near(event.tid.0, from.signed()?)?);
    }
    if saves(saving::OTHER_SEQ) {
        event.seq = state.seq.wrapping_add(from.signed()? as u64);
    }
    let apart = from.number()? as i64;
    let apart = if saves(saving::EARLIER) { apart.wrapping_neg() } else { apart };
    event.start = Timestamp(state.time.wrapping_add(apart));
    if shape.has(has::DUR) {
        event.dur = Nullable::some(Nanos(from.signed()?));
    }
    if shape.has(has::FD) {
        let fd = if saves(saving::SAME_FD) { state.fd } else { from.signed()?.try_into().ok()? };
        event.fd = Nullable::some(fd);
    }
    let slot = *state.slot(event.fd);
    if shape.has(has::PATH) {
        event.path = if saves(saving::SAME_PATH) { slot.path } else { Nullable::some(PathId(name(from)?)) };
    }
    if shape.has(has::PATH2) {
        event.path2 = Nullable::some(PathId(name(from)?));
    }
    if shape.has(has::OFFSET) {
        let apart = if saves(saving::NEXT_OFFSET) { 0 } else { from.signed()? };
        event.offset = Nullable::some(slot.offset.wrapping_add(apart));
    }
    if shape.has(has::REQUESTED) {
        let requested = if saves(saving::SAME_REQUESTED) { slot.requested } else { from.signed()? };
        event.requested = Nullable::some(requested);
    }
    if shape.has(has::SIZE) {
        event.size =
            if saves(saving::SIZE_AS_REQUESTED) { event.requested } else { Nullable::some(from.signed()?) };
    }
    event.ret = match shape.bits & has::RET {
        has::RET_AS_USUAL => Nullable::some(usual_ret(&event)),
        has::RET_FD => Nullable::some(i64::from(event.fd.get()?)),
        has::RET_OTHER => Nullable::some(from.signed()?),
        _ => Nullable::NULL,
    };
    event.file = match shape.bits & has::FILE {
        has::FILE_AS_USUAL => state.usual_file(event.path),
        has::FILE_OTHER => Nullable::some(FileId(near(state.file, from.signed()?)?)),
        _ => Nullable::NULL,
    };
    if shape.has(has::FILE2) {
        event.file2 = Nullable::some(FileId(near(state.file, from.signed()?)?));
    }
    event.open = match shape.bits & has::OPEN {
        has::OPEN_AS_USUAL => slot.open,
        has::OPEN_OTHER => Nullable::some(OpenId(near(state.open, from.signed()?)?)),
        _ => Nullable::NULL,
    };
    if shape.has(has::OPEN2) {
        event.open2 = Nullable::some(OpenId(near(state.open, from.signed()?)?));
    }
    plain::read(shape.bits, from, &mut event)?;
    state.learn(&event);
    Some(event)
}

fn name(from: &mut Cursor<'_>) -> Option<u32> {
    from.small().filter(|id| *id < MAX_NAMES)
}

fn near(base: u32, apart: i64) -> Option<u32> {
    i64::from(base).checked_add(apart)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use iotrail_model::SiteId;
    use proptest::prelude::*;

    fn round_trip(events: &[Event]) -> (Vec<Event>, usize) {
        let (mut writing, mut reading) = (Prediction::default(), Prediction::default());
        let (mut read, mut bytes) = (Vec::new(), 0);
        for event in events {
            let mut out = Vec::new();
            encode(event, &mut writing, &mut out);
            bytes += out.len();
            let mut cursor = Cursor(&out);
            let head = cursor.number().unwrap();
            read.push(decode(head, &mut cursor, &mut reading).unwrap());
            assert!(cursor.0.is_empty());
        }
        (read, bytes)
    }

    proptest! {
        #[test]
        fn every_event_is_read_as_it_was_written(events in prop::collection::vec(samples::event(), 0..40)) {
            prop_assert_eq!(round_trip(&events).0, events);
        }

        #[test]
        fn any_bytes_are_an_event_or_none(bytes in prop::collection::vec(any::<u8>(), 0..60), head in 0_u64..40) {
            let mut state = Prediction::default();
            let mut cursor = Cursor(&bytes);
            while decode(head, &mut cursor, &mut state).is_some() {}
        }
    }

    /// A value of a type of cells that is not the one by default.
    trait Sample: Default {
        fn sample() -> Self;
    }

    macro_rules! samples {
        ($($cell:ty: $value:expr;)*) => {
            $(impl Sample for $cell {
                fn sample() -> Self {
                    $value
                }
            })*
        };
    }

    samples! {
        CaseId: Self(3);
        u64: 77;
        Pid: Self(5);
        Tid: Self(6);
        Layer: Self::Mpi;
        CallId: Self(9);
        Timestamp: Self(-4);
        Nullable<Nanos>: Self::some(Nanos(1 << 40));
        Nullable<i32>: Self::some(-100);
        Nullable<i64>: Self::some(1 << 50);
        Nullable<u64>: Self::some(u64::MAX - 1);
        Nullable<PathId>: Self::some(PathId(4));
        Nullable<ErrnoId>: Self::some(ErrnoId(2));
        Nullable<FlagsId>: Self::some(FlagsId(1));
        Nullable<FileId>: Self::some(FileId(u32::MAX - 1));
        Nullable<OpenId>: Self::some(OpenId(8));
        Nullable<SiteId>: Self::some(SiteId(11));
    }

    macro_rules! each_column {
        ($(#[$doc:meta] $field:ident: $cell:ty, $constant:ident = $name:literal, $packing:ident, $redaction:ident, $code:ident;)*) => {$(
            let event = Event { $field: Sample::sample(), ..Event::default() };
            assert_ne!(event, Event::default(), $name);
            assert_eq!(round_trip(&[event, Event::default(), event]).0, [event, Event::default(), event], $name);
        )*};
    }

    #[test]
    fn every_column_comes_back_also_where_it_alone_is_known() {
        iotrail_model::event_columns!(each_column);
    }

    #[test]
    fn reads_one_after_another_cost_seven_bytes() {
        let read = |number: i64| Event {
            seq: number as u64,
            pid: Pid(1000),
            tid: Tid(1000),
            start: Timestamp(1_700_000_000_000_000_000 + number * 30_000),
            dur: Nullable::some(Nanos(8_000)),
            fd: Nullable::some(3),
            path: Nullable::some(PathId(0)),
            file: Nullable::some(FileId(7)),
            open: Nullable::some(OpenId(3)),
            offset: Nullable::some(number * 4096),
            requested: Nullable::some(4096),
            size: Nullable::some(4096),
            ret: Nullable::some(4096),
            ..Event::default()
        };
        let events: Vec<Event> = (0..101).map(read).collect();
        let (_, all) = round_trip(&events);
        let (_, two) = round_trip(&events[..2]);
        // Head, savings, three of the start, two of the duration.
        assert_eq!(all - two, 99 * 7);
    }
}
