//! Which accesses can have anybody in their way at all: most bytes of most files are touched through one description only.

use crate::access::{Access, DescriptionId, Kind};

/// Which accesses touch bytes that others touch, too, at whatever time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contention {
    contended: Vec<bool>,
    /// Whether there are accesses to all bytes from some place on, which are in everybody's way.
    pub(crate) wide: bool,
}

impl Contention {
    /// Of accesses that change, or look at, bytes from `visible_from` on. Where `appends`, nobody knows where writes land.
    pub(crate) fn of(accesses: &[Access], visible_from: &[u64], appends: impl Fn(&Access) -> bool) -> Self {
        if accesses.iter().any(&appends) {
            // They may be in anybody's way, and anybody in theirs.
            return Self { contended: vec![true; accesses.len()], wide: true };
        }
        let mut found = Self { contended: vec![false; accesses.len()], wide: false };
        let mut by_low: Vec<(u64, u32)> = Vec::with_capacity(accesses.len());
        for (index, access) in accesses.iter().enumerate() {
            if access.high == u64::MAX || access.kind.is_unknown() {
                found.contended[index] = true;
                found.wide = true;
            } else if access.kind != Kind::Seek && access.low < access.high {
                by_low.push((visible_from[index].min(access.low), index as u32));
            }
        }
        by_low.sort_unstable();
        let mut rest = &by_low[..];
        while let Some((_, first)) = rest.first() {
            let (mut end, owner) = (accesses[*first as usize].high, accesses[*first as usize].description);
            let mut several = owner == DescriptionId::NONE;
            let mut length = 1;
            while let Some((_, index)) = rest.get(length).filter(|(low, _)| *low < end) {
                let access = &accesses[*index as usize];
                end = end.max(access.high);
                several |= access.description != owner;
                length += 1;
            }
            let (group, others) = rest.split_at(length);
            if several {
                group.iter().for_each(|(_, index)| found.contended[*index as usize] = true);
            }
            rest = others;
        }
        found
    }

    /// Whether an access touches bytes that others touch.
    pub(crate) fn is_contended(&self, at: u32) -> bool {
        self.contended[at as usize]
    }
}
