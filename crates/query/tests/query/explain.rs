use crate::log::{Log, case};
use crate::words;
use iotrail_query::{Query, QuerySpec, SelectSpec};
use std::num::NonZeroUsize;

#[test]
fn each_activity_shows_its_paths_and_the_rest_is_not_hidden() {
    let mut log = Log::new(vec![case(0, "a")]);
    for path in ["/usr/lib/a", "/usr/lib/b", "/usr/lib/b", "/usr/lib/c", "pipe:[1]", "/x/\u{1b}[31m"] {
        log.event(0, "read", path);
    }
    log.event(0, "brk", "").event(0, "brk", "").event(0, "getpid", "").event(0, "close", "/x");
    let log = log.build();
    let select = SelectSpec { not_call: words(&["close"]), ..SelectSpec::default() };
    let explain = |threads| {
        let query = Query::new(QuerySpec { select: select.clone(), ..QuerySpec::default() }, &log).unwrap();
        query.explain(&log, NonZeroUsize::new(threads).unwrap(), 2).unwrap()
    };
    assert_eq!(explain(1), explain(2));
    assert_eq!(
        (explain(1).events, explain(1).mapped, explain(1).unmapped, explain(1).unselected),
        (9, 6, 3, 1)
    );
    insta::assert_snapshot!(explain(1).to_string());
}
