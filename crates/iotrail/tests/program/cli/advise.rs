//! Advice on the command line.

use crate::cli::util::Dir;
use serde_json::Value;
use std::fmt::Write;

/// A program writes eight records of 100 bytes one after the other; another one reads the second of them before the sixth is written.
fn trace() -> String {
    let mut text = "\
1 10:00:00.000000 execve(\"/usr/bin/log\", [\"log\"], 0x7ffd /* 3 vars */) = 0 <0.000100>
1 10:00:00.000500 brk(NULL) = 0x5555 <0.000010>
1 10:00:00.000600 getpid() = 1 <0.000010>
1 10:00:00.000700 rt_sigaction(SIGINT, NULL, {sa_handler=SIG_DFL}, 8) = 0 <0.000010>
1 10:00:00.001000 fork() = 2 <0.000200>
1 10:00:00.002000 openat(AT_FDCWD, \"/data/log\", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 3</data/log> <0.000010>
"
    .to_owned();
    for record in 0..8 {
        let _ = writeln!(text, "1 10:00:00.01{record}000 write(3</data/log>, \"\"..., 100) = 100 <0.000050>");
        if record == 4 {
            text.push_str(
                "2 10:00:00.014500 openat(AT_FDCWD, \"/data/log\", O_RDONLY) = 3</data/log> <0.000010>\n\
                 2 10:00:00.014600 pread64(3</data/log>, \"\"..., 100, 100) = 100 <0.000010>\n",
            );
        }
    }
    text.push_str("1 10:00:00.030000 exit_group(0) = ?\n1 10:00:00.030100 +++ exited with 0 +++\n");
    text
}

#[test]
fn advice_says_what_could_be_fewer_and_what_is_in_the_way() {
    let dir = Dir::with_trace(trace());
    insta::assert_snapshot!(dir.run(["advise", "t.trail"]).succeeds().text());
}

#[test]
fn what_others_read_in_between_keeps_writes_apart() {
    let dir = Dir::with_trace(trace());
    let advice = |words: &[&str]| -> Value {
        let words: Vec<&str> = ["advise", "t.trail", "--json"].iter().chain(words).copied().collect();
        serde_json::from_str(&dir.run(words).succeeds().text()).expect("JSON")
    };
    let all = advice(&[]);
    let finding = &all["findings"][0];
    assert_eq!(
        (&finding["calls"], &finding["calls_after"], &finding["runs"]),
        (&8.into(), &2.into(), &2.into())
    );
    assert_eq!(finding["stops"], serde_json::json!({ "conflict": 1, "mixed": 1 }));
    assert_eq!(all["pairs"], serde_json::json!({ "impossible": 0, "easy": 6, "possible": 1, "unknown": 0 }));
    assert_eq!(finding["saved_ns"], 300_000);
    // Who is not advised is still in the way.
    let own = advice(&["--pid", "1"]);
    assert_eq!(own["findings"][0]["calls_after"], 2);
    assert_eq!(advice(&["--pid", "2"])["findings"], serde_json::json!([]));
}
