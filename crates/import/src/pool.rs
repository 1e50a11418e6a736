//! A fixed number of threads that share a list of jobs.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Runs jobs `0..jobs` and returns their results in the order of the jobs, or the error of the first job that failed;
/// after an error no further job is begun.
///
/// `begin` is called in the order of the jobs, by one thread at a time; `state` once per thread.
pub(crate) fn run<B, S, T, E>(
    threads: NonZeroUsize,
    jobs: usize,
    begin: impl Fn(usize) -> Result<B, E> + Sync,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize, B) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E>
where
    T: Send,
    E: Send,
{
    let next = Mutex::new(0);
    let failed = AtomicBool::new(false);
    let take = || {
        let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
        let job = *next;
        if job == jobs || failed.load(Ordering::Relaxed) {
            return None;
        }
        *next += 1;
        Some((job, begin(job)))
    };
    let results = Mutex::new(Vec::with_capacity(jobs));
    let thread = || {
        let mut state = state();
        while let Some((job, begun)) = take() {
            let result = begun.and_then(|begun| work(&mut state, job, begun));
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            results.lock().unwrap_or_else(PoisonError::into_inner).push((job, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.get().min(jobs) {
            scope.spawn(thread);
        }
        thread();
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(job, _)| *job);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREADS: NonZeroUsize = NonZeroUsize::new(3).expect("three is not zero");

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        let begun = Mutex::new(Vec::new());
        let results = run(
            THREADS,
            50,
            |job| {
                begun.lock().expect("no panic").push(job);
                Ok::<_, ()>(job * 2)
            },
            || 0,
            |count, job, doubled| {
                *count += 1;
                Ok((job, doubled))
            },
        );
        assert_eq!(results, Ok((0..50).map(|job| (job, job * 2)).collect()));
        assert_eq!(begun.into_inner().expect("no panic"), (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn an_error_ends_the_work() {
        let fail = |_: &mut (), job, ()| if job == 1 { Err(job) } else { Ok(job) };
        assert_eq!(run(THREADS, 1000, |_| Ok(()), || (), fail), Err(1));
        assert_eq!(run(THREADS, 0, |_| Ok(()), || (), fail), Ok(vec![]));
    }
}
