//! Requests of several classes of files in one order.
//!
//! Source: PIONEER, algorithm 1 and section V-D: sessions are laid out for each class alone, merged by position, and what
//! positions stay free is for requests outside of sessions.

/// The order of requests that want positions from 1 on: the index of a request, or NULL for a hole. Requests are ordered by
/// position and `key` (class and file); one whose position is taken moves to the next free one. There are `holes` holes: those
/// that the positions leave, fewer or more of them, evenly.
#[must_use]
pub fn merge<K: Ord>(wanted: &[(u64, K)], holes: usize) -> Vec<Option<usize>> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&one, &other| wanted[one].cmp(&wanted[other]));
    let before = match free(&order, wanted) {
        left if total(&left) > holes as u128 => kept(&left, holes),
        left => widened(&left, holes),
    };
    let mut merged = Vec::with_capacity(wanted.len() + holes);
    for (request, holes) in order.into_iter().zip(&before) {
        merged.resize(merged.len() + holes, None);
        merged.push(Some(request));
    }
    merged.resize(wanted.len() + holes, None);
    merged
}

/// Free positions before each request.
fn free<K>(order: &[usize], wanted: &[(u64, K)]) -> Vec<u64> {
    let mut next = 1_u64;
    let free = order.iter().map(|&request| {
        let free = wanted[request].0.saturating_sub(next);
        next = next.saturating_add(free).saturating_add(1);
        free
    });
    free.collect()
}

fn total(free: &[u64]) -> u128 {
    free.iter().map(|&holes| u128::from(holes)).sum()
}

/// So many of the free positions, at even distances.
fn kept(free: &[u64], holes: usize) -> Vec<usize> {
    let total = total(free);
    // Of h positions, the k-th of H that are kept is number ⌊kh/H⌋, so below a position lie ⌈position · H/h⌉ of them.
    let kept_below = |position: u128| (position * holes as u128).div_ceil(total) as usize;
    let mut position = 0;
    let kept = free.iter().map(|&holes| {
        let before = kept_below(position);
        position += u128::from(holes);
        kept_below(position) - before
    });
    kept.collect()
}

/// All free positions, and as many more as are missing, at even distances among the requests.
fn widened(free: &[u64], holes: usize) -> Vec<usize> {
    let mut widened: Vec<usize> = free.iter().map(|&holes| holes as usize).collect();
    let missing = holes - widened.iter().sum::<usize>();
    for added in 0..missing {
        let at = (2 * added as u128 + 1) * free.len() as u128 / (2 * missing as u128);
        widened.iter_mut().skip(at as usize).take(1).for_each(|holes| *holes += 1);
    }
    widened
}
