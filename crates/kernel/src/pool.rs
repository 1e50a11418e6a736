//! A fixed number of threads that share a list of jobs: the one pool of scans, imports, conversions and analyses.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Does `work` for each of `items` and returns the results in their order, or the error of the first item that failed; after an
/// error no further item is begun.
///
/// # Errors
/// That of the first item that failed.
pub fn each<I, T, E>(
    threads: NonZeroUsize,
    items: Vec<I>,
    work: impl Fn(I) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E>
where
    I: Send,
    T: Send,
    E: Send,
{
    let jobs = items.len();
    let items = Mutex::new(items.into_iter());
    let begin = |_| Ok(items.lock().unwrap_or_else(PoisonError::into_inner).next());
    let done = run(threads, jobs, begin, || (), |(), _, item| item.map(&work).transpose())?;
    Ok(done.into_iter().flatten().collect())
}

/// Runs jobs `0..jobs` and returns their results in the order of the jobs, or the error of the first job that failed;
/// after an error no further job is begun. The calling thread is one of `threads`.
///
/// `begin` is called in the order of the jobs, by one thread at a time; `state` once per thread. A panic in a job is one in the
/// caller, once the other threads have ended.
///
/// # Errors
/// That of the first job that failed.
pub fn run<B, S, T, E>(
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
    fn items_are_taken_once_each() {
        let items: Vec<String> = (0..50).map(|item| item.to_string()).collect();
        let numbers = each(THREADS, items, |item| item.parse::<usize>());
        assert_eq!(numbers, Ok((0..50).collect()));
        assert!(each(THREADS, vec!["1", "x", "2"], |item| item.parse::<usize>()).is_err());
        assert_eq!(each(THREADS, Vec::<()>::new(), |()| Ok::<_, ()>(())), Ok(vec![]));
    }

    #[test]
    fn there_are_as_many_states_as_threads_and_no_more_than_jobs() {
        for (threads, jobs) in [(3, 10), (3, 2), (1, 5)] {
            let states = Mutex::new(0);
            let count = || *states.lock().expect("no panic") += 1;
            let threads = NonZeroUsize::new(threads).expect("not zero");
            let done = run(threads, jobs, |_| Ok::<_, ()>(()), count, |_, job, ()| Ok(job));
            assert_eq!(done, Ok((0..jobs).collect()));
            assert_eq!(states.into_inner().expect("no panic"), threads.get().min(jobs));
        }
    }

    #[test]
    fn an_error_ends_the_work() {
        let fail = |_: &mut (), job, ()| if job == 1 { Err(job) } else { Ok(job) };
        assert_eq!(run(THREADS, 1000, |_| Ok(()), || (), fail), Err(1));
        assert_eq!(run(THREADS, 0, |_| Ok(()), || (), fail), Ok(vec![]));
    }
}
