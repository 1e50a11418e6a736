//! What comes out of a pipe went into it before, in the same order.

/// For each part that is taken out, with its bytes, the part that was put in whose bytes are its last ones; NULL if more was taken out than was seen to go in.
pub(crate) fn matched<'a, T>(
    put: &'a [(i64, T)],
    taken: &'a [(i64, T)],
) -> impl Iterator<Item = (Option<&'a T>, &'a T)> {
    let (mut put, mut last, mut written, mut read) = (put.iter(), None, 0_i64, 0_i64);
    taken.iter().map(move |(bytes, taken)| {
        read = read.saturating_add(*bytes);
        while written < read {
            let Some((bytes, next)) = put.next() else { break };
            written = written.saturating_add(*bytes);
            last = Some(next);
        }
        (last.filter(|_| written >= read), taken)
    })
}
