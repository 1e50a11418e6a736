//! The accesses of a file in a tenth of the room, while a log is read: each as what it differs in from the one before.

use crate::access::{Access, DescriptionId, Kind};
use iotrail_model::varint::{Cursor, put, put_signed};
use iotrail_model::{CallId, Pid, Tid};

const KIND: u8 = 0b111;
const MERGEABLE: u8 = 1 << 3;
const SYNCS: u8 = 1 << 4;
const TIMED: u8 = 1 << 5;
const OTHER_USER: u8 = 1 << 6;
const OTHER_CALL: u8 = 1 << 7;

/// Accesses, in the order in which they came.
#[derive(Clone, Debug, Default)]
pub(crate) struct PackedAccesses {
    bytes: Vec<u8>,
    count: u32,
    last: Option<Box<Access>>,
}

impl PackedAccesses {
    /// Adds an access; says which one it is.
    pub(crate) fn push(&mut self, access: Access) -> u32 {
        let last = self.last.get_or_insert_with(|| Box::new(NOTHING));
        let out = &mut self.bytes;
        let user = |access: &Access| (access.description, access.tid, access.pid);
        let (other_user, other_call) = (user(&access) != user(last), access.call != last.call);
        let flags = [
            (access.mergeable, MERGEABLE),
            (access.syncs, SYNCS),
            (access.timed, TIMED),
            (other_user, OTHER_USER),
            (other_call, OTHER_CALL),
        ];
        let flags = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag).sum::<u8>();
        out.push(flags | access.kind as u8);
        if other_user {
            put(out, access.description.0.into());
            put(out, access.tid.0.into());
            put(out, access.pid.0.into());
        }
        if other_call {
            put(out, access.call.0.into());
        }
        put_signed(out, access.start.wrapping_sub(last.start));
        put_signed(out, access.end.wrapping_sub(access.start));
        put_signed(out, access.low.wrapping_sub(last.high) as i64);
        put(out, access.high.wrapping_sub(access.low));
        put_signed(out, access.seq.wrapping_sub(last.seq) as i64);
        **last = access;
        self.count += 1;
        self.count - 1
    }

    /// All of them.
    pub(crate) fn unpack(&self) -> Vec<Access> {
        let mut accesses = Vec::with_capacity(self.count as usize);
        let (mut rest, mut last) = (Cursor(&self.bytes), NOTHING);
        while let Some(access) = next(&mut rest, &last) {
            accesses.push(access);
            last = access;
        }
        accesses
    }
}

/// What the first one is compared with.
const NOTHING: Access = Access {
    start: 0,
    end: 0,
    low: 0,
    high: 0,
    seq: 0,
    description: DescriptionId::NONE,
    tid: Tid(0),
    pid: Pid(0),
    call: CallId(0),
    kind: Kind::Read,
    mergeable: false,
    syncs: false,
    timed: false,
};

fn next(rest: &mut Cursor<'_>, last: &Access) -> Option<Access> {
    let flags = rest.byte()?;
    let (description, tid, pid) = match flags & OTHER_USER {
        0 => (last.description, last.tid, last.pid),
        _ => (DescriptionId(rest.small()?), Tid(rest.small()?), Pid(rest.small()?)),
    };
    let call = if flags & OTHER_CALL == 0 { last.call } else { CallId(rest.small()?) };
    let start = last.start.wrapping_add(rest.signed()?);
    let end = start.wrapping_add(rest.signed()?);
    let low = last.high.wrapping_add(rest.signed()? as u64);
    let high = low.wrapping_add(rest.number()?);
    let seq = last.seq.wrapping_add(rest.signed()? as u64);
    Some(Access {
        start,
        end,
        low,
        high,
        seq,
        description,
        tid,
        pid,
        call,
        kind: Kind::ALL.into_iter().find(|kind| *kind as u8 == flags & KIND)?,
        mergeable: flags & MERGEABLE != 0,
        syncs: flags & SYNCS != 0,
        timed: flags & TIMED != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn access() -> impl Strategy<Value = Access> {
        let times = (any::<i64>(), any::<i64>());
        let small = (0_u32..3, 0_u32..3, 0_u32..3, 0_u32..3);
        let flags = any::<[bool; 3]>();
        (times, any::<[u64; 3]>(), small, 0..Kind::ALL.len(), flags).prop_map(
            |((start, end), [low, high, seq], (description, tid, pid, call), kind, flags)| Access {
                start,
                end,
                low,
                high,
                seq,
                description: DescriptionId(description.wrapping_sub(1)),
                tid: Tid(tid),
                pid: Pid(pid),
                call: CallId(call),
                kind: Kind::ALL[kind],
                mergeable: flags[0],
                syncs: flags[1],
                timed: flags[2],
            },
        )
    }

    proptest! {
        #[test]
        fn nothing_is_lost(accesses in prop::collection::vec(access(), 0..20)) {
            let mut packed = PackedAccesses::default();
            for (at, access) in (0..).zip(&accesses) {
                prop_assert_eq!(packed.push(*access), at);
            }
            prop_assert_eq!(packed.unpack(), accesses);
        }
    }
}
