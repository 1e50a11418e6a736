//! A record: a call that begins, a text, or a call that returned.

/// What a record is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordKind {
    /// A call begins.
    #[default]
    Entered,
    /// A call returned.
    Returned,
    /// A piece of the name of the file that the call that begins next is about.
    Text,
    /// Requests that the call that begins next is given: as many handles as [`Record::handles`] tells.
    Handles,
    /// Places, among these, of those that the call that returns next has completed.
    Places,
    /// A piece of the frames of the call site of the call that begins next, which has a new number ([`crate::frames`]).
    Frames,
}

/// Which of the requests that a call was given it has completed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Completed {
    /// None.
    #[default]
    None,
    /// All.
    All,
    /// Those whose places the records before tell.
    Listed,
    /// The one at a place.
    One(u32),
}

impl Completed {
    fn number(self) -> u32 {
        match self {
            Self::None => 0,
            Self::All => 1,
            Self::Listed => 2,
            Self::One(place) => place.saturating_add(3),
        }
    }

    fn of(number: u32) -> Self {
        match number {
            0 => Self::None,
            1 => Self::All,
            2 => Self::Listed,
            _ => Self::One(number - 3),
        }
    }
}

/// What a thread tells of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// What it is.
    pub kind: RecordKind,
    /// Number of the function in the table.
    pub function: u16,
    /// What it returned; 0 is success.
    pub returned: i32,
    /// When it was entered, in nanoseconds of the monotonic clock.
    pub start: i64,
    /// When it returned.
    pub end: i64,
    /// The communicator: 0 is none, 1 `MPI_COMM_WORLD`, 2 `MPI_COMM_SELF`; otherwise its handle.
    pub comm: u64,
    /// The handle of the file, or of the communicator that the call made; 0 is none.
    pub file: u64,
    /// The rank of the partner in the communicator, or the root.
    pub peer: Option<i32>,
    /// The tag of the message.
    pub tag: Option<i32>,
    /// Byte of the file at which the transfer began.
    pub offset: Option<i64>,
    /// Bytes of file that were asked for.
    pub requested: Option<i64>,
    /// Bytes of file that were moved.
    pub size: Option<i64>,
    /// Bytes that this rank gave.
    pub sent: Option<i64>,
    /// Bytes that it got.
    pub received: Option<i64>,
    /// The request that the call made; 0 is none.
    pub request: u64,
    /// Which of the requests that it was given it has completed.
    pub completed: Completed,
    /// The number of its call site, which its thread gave; 0 is none.
    pub site: u32,
}

/// Bytes of a text in one record.
const TEXT: usize = Record::BYTES - 8;
/// Handles in one record.
const HANDLES: usize = TEXT / 8;
/// Places in one record.
const PLACES: usize = TEXT / 4;

impl Record {
    /// Bytes of a record.
    pub const BYTES: usize = 128;
    /// Bytes of a piece of a text, or of frames, in one record.
    pub(crate) const PIECE: usize = TEXT;

    /// As it lies in the file.
    #[must_use]
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let numbers = [self.offset, self.requested, self.size, self.sent, self.received];
        let ranks = [self.peer, self.tag];
        let mut known = 0_u8;
        for (place, is_known) in
            numbers.iter().map(Option::is_some).chain(ranks.iter().map(Option::is_some)).enumerate()
        {
            known |= u8::from(is_known) << place;
        }
        bytes[0] = self.kind as u8;
        bytes[1] = known;
        bytes[2..4].copy_from_slice(&self.function.to_ne_bytes());
        bytes[4..8].copy_from_slice(&self.returned.to_ne_bytes());
        bytes[8..16].copy_from_slice(&self.start.to_ne_bytes());
        bytes[16..24].copy_from_slice(&self.end.to_ne_bytes());
        bytes[24..32].copy_from_slice(&self.comm.to_ne_bytes());
        bytes[32..40].copy_from_slice(&self.file.to_ne_bytes());
        for (place, number) in numbers.iter().enumerate() {
            let start = 40 + 8 * place;
            bytes[start..start + 8].copy_from_slice(&number.unwrap_or_default().to_ne_bytes());
        }
        for (place, rank) in ranks.iter().enumerate() {
            let start = 80 + 4 * place;
            bytes[start..start + 4].copy_from_slice(&rank.unwrap_or_default().to_ne_bytes());
        }
        bytes[88..96].copy_from_slice(&self.request.to_ne_bytes());
        bytes[96..100].copy_from_slice(&self.completed.number().to_ne_bytes());
        bytes[100..104].copy_from_slice(&self.site.to_ne_bytes());
        bytes
    }

    /// What lies in the file; `None` if that is no record.
    #[must_use]
    pub fn of(bytes: &[u8; Self::BYTES]) -> Option<Self> {
        let kind = match bytes[0] {
            0 => RecordKind::Entered,
            1 => RecordKind::Returned,
            2 => RecordKind::Text,
            3 => RecordKind::Handles,
            4 => RecordKind::Places,
            5 => RecordKind::Frames,
            _ => return None,
        };
        let number = |start: usize| {
            let mut eight = [0; 8];
            eight.copy_from_slice(&bytes[start..start + 8]);
            i64::from_ne_bytes(eight)
        };
        let small = |start: usize| {
            i32::from_ne_bytes([bytes[start], bytes[start + 1], bytes[start + 2], bytes[start + 3]])
        };
        let is_known = |place: usize| bytes[1] >> place & 1 == 1;
        let known = |place: usize| is_known(place).then(|| number(40 + 8 * place));
        let rank = |place: usize| is_known(5 + place).then(|| small(80 + 4 * place));
        Some(Self {
            kind,
            function: u16::from_ne_bytes([bytes[2], bytes[3]]),
            returned: small(4),
            start: number(8),
            end: number(16),
            comm: number(24) as u64,
            file: number(32) as u64,
            peer: rank(0),
            tag: rank(1),
            offset: known(0),
            requested: known(1),
            size: known(2),
            sent: known(3),
            received: known(4),
            request: number(88) as u64,
            completed: Completed::of(small(96) as u32),
            site: small(100) as u32,
        })
    }

    /// Records that hold a text, in order.
    pub fn of_text(text: &[u8]) -> impl Iterator<Item = [u8; Self::BYTES]> + '_ {
        text.chunks(TEXT).map(|chunk| Self::of_piece(RecordKind::Text, chunk))
    }

    /// A record of a piece of a text, or of frames, of at most [`Self::PIECE`] bytes.
    pub(crate) fn of_piece(kind: RecordKind, piece: &[u8]) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[0] = kind as u8;
        bytes[2..4].copy_from_slice(&(piece.len() as u16).to_ne_bytes());
        bytes[8..8 + piece.len()].copy_from_slice(piece);
        bytes
    }

    /// The piece in a record of the kind [`RecordKind::Text`] or [`RecordKind::Frames`].
    #[must_use]
    pub fn text(bytes: &[u8; Self::BYTES]) -> &[u8] {
        &bytes[8..8 + length(bytes).min(TEXT)]
    }

    /// Records of so many handles, in order; `at` reads the one at a place.
    pub fn of_handles(count: usize, at: impl Fn(usize) -> u64) -> impl Iterator<Item = [u8; Self::BYTES]> {
        of_numbers::<HANDLES, 8>(RecordKind::Handles, count, move |place| at(place).to_ne_bytes())
    }

    /// The handles in a record of the kind [`RecordKind::Handles`].
    pub fn handles(bytes: &[u8; Self::BYTES]) -> impl Iterator<Item = u64> {
        numbers::<8>(bytes, HANDLES).map(u64::from_ne_bytes)
    }

    /// Records of so many places, in order; `at` reads the one at a place of its own.
    pub fn of_places(count: usize, at: impl Fn(usize) -> u32) -> impl Iterator<Item = [u8; Self::BYTES]> {
        of_numbers::<PLACES, 4>(RecordKind::Places, count, move |place| at(place).to_ne_bytes())
    }

    /// The places in a record of the kind [`RecordKind::Places`].
    pub fn places(bytes: &[u8; Self::BYTES]) -> impl Iterator<Item = u32> {
        numbers::<4>(bytes, PLACES).map(u32::from_ne_bytes)
    }
}

/// What a record of many says that it holds.
fn length(bytes: &[u8; Record::BYTES]) -> usize {
    usize::from(u16::from_ne_bytes([bytes[2], bytes[3]]))
}

/// Records of at most `MOST` numbers each, of `SIZE` bytes.
fn of_numbers<const MOST: usize, const SIZE: usize>(
    kind: RecordKind,
    count: usize,
    at: impl Fn(usize) -> [u8; SIZE],
) -> impl Iterator<Item = [u8; Record::BYTES]> {
    (0..count).step_by(MOST).map(move |first| {
        let here = (count - first).min(MOST);
        let mut bytes = [0; Record::BYTES];
        bytes[0] = kind as u8;
        bytes[2..4].copy_from_slice(&(here as u16).to_ne_bytes());
        for (place, number) in bytes[8..].chunks_exact_mut(SIZE).take(here).enumerate() {
            number.copy_from_slice(&at(first + place));
        }
        bytes
    })
}

/// The numbers in such a record.
fn numbers<const SIZE: usize>(bytes: &[u8; Record::BYTES], most: usize) -> impl Iterator<Item = [u8; SIZE]> {
    let count = length(bytes).min(most);
    bytes[8..].chunks_exact(SIZE).take(count).map(|number| {
        let mut own = [0; SIZE];
        own.copy_from_slice(number);
        own
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn records_come_back(
            (function, returned, start, end) in any::<(u16, i32, i64, i64)>(),
            (comm, file, peer, tag) in any::<(u64, u64, Option<i32>, Option<i32>)>(),
            (offset, requested, size) in any::<(Option<i64>, Option<i64>, Option<i64>)>(),
            (sent, received, is_entered) in any::<(Option<i64>, Option<i64>, bool)>(),
            (request, completed, site) in any::<(u64, u32, u32)>(),
        ) {
            let kind = if is_entered { RecordKind::Entered } else { RecordKind::Returned };
            let completed = Completed::of(completed.min(u32::MAX - 3));
            let record = Record { kind, function, returned, start, end, comm, file, peer, tag, offset, requested, size, sent, received, request, completed, site };
            prop_assert_eq!(Record::of(&record.to_bytes()), Some(record));
        }

        #[test]
        fn texts_come_back(text in prop::collection::vec(any::<u8>(), 0..400)) {
            let records: Vec<_> = Record::of_text(&text).collect();
            let pieces: Vec<u8> = records.iter().flat_map(|bytes| Record::text(bytes).to_vec()).collect();
            prop_assert_eq!(pieces, text);
            prop_assert!(records.iter().all(|bytes| Record::of(bytes).is_some_and(|record| record.kind == RecordKind::Text)));
        }

        #[test]
        fn numbers_come_back(numbers in prop::collection::vec(any::<u64>(), 0..50)) {
            let of = |bytes: &[u8; Record::BYTES]| Record::of(bytes).map(|record| record.kind);
            let records: Vec<_> = Record::of_handles(numbers.len(), |place| numbers[place]).collect();
            let back: Vec<u64> = records.iter().flat_map(Record::handles).collect();
            prop_assert_eq!(back, &numbers[..]);
            prop_assert!(records.iter().all(|bytes| of(bytes) == Some(RecordKind::Handles)));
            let records: Vec<_> = Record::of_places(numbers.len(), |place| numbers[place] as u32).collect();
            let back: Vec<u32> = records.iter().flat_map(Record::places).collect();
            prop_assert!(back.into_iter().eq(numbers.iter().map(|number| *number as u32)));
            prop_assert!(records.iter().all(|bytes| of(bytes) == Some(RecordKind::Places)));
        }

        #[test]
        fn any_bytes_are_a_record_or_none(bytes in prop::array::uniform32(any::<u8>()), kind in 0_u8..8) {
            let mut all = [0; Record::BYTES];
            all[..32].copy_from_slice(&bytes);
            all[0] = kind;
            prop_assert_eq!(Record::of(&all).is_some(), kind < 6);
            let _ = (Record::text(&all), Record::handles(&all).count(), Record::places(&all).count());
        }
    }
}
