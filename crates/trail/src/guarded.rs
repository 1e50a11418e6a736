//! The one border across which foreign bytes enter: the Parquet library reads files that anybody may have written.
//!
//! The library promises errors for damaged files, yet arithmetic and slicing on damaged pages can still panic in it
//! (fuzzing with flipped bytes finds such places). Here, and only here, a panic becomes an error; the message does not
//! reach the terminal, because for the user it is an error like any other.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

static HOOK: Once = Once::new();

/// Runs `read`; a panic in it becomes an error text.
pub(crate) fn guarded<T, E: ToString>(read: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    HOOK.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                previous(panic);
            }
        }));
    });
    let outer = QUIET.replace(true);
    // Nothing that `read` touched is used after a panic: callers drop the file's reader and the unfinished batch.
    let outcome = catch_unwind(AssertUnwindSafe(read));
    QUIET.set(outer);
    match outcome {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(panic) => Err(format!("the content makes no sense ({})", message(&*panic))),
    }
}

fn message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given")
}

#[cfg(test)]
mod tests {
    use super::guarded;

    #[test]
    fn a_panic_becomes_an_error() {
        let error = guarded(|| -> Result<(), String> { panic!("index {} is out of range", 7) });
        assert_eq!(error, Err("the content makes no sense (index 7 is out of range)".to_owned()));
        assert_eq!(guarded(|| Ok::<_, String>(1)), Ok(1));
    }
}
