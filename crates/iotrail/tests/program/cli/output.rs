//! Where data and talk go.

use crate::cli::util::{Dir, LS};
use std::os::unix::fs::symlink;

/// More events than a pipe holds.
fn long_trace() -> String {
    let line = |n: u32| {
        let (minute, second) = (n / 60_000 % 60, n / 1000 % 60);
        format!(
            "7  10:{minute:02}:{second:02}.{:03}000 read(3</data/file{}>, \"\"..., 10) = 10 <0.000001>\n",
            n % 1000,
            n % 7
        )
    };
    (0..6000).map(line).collect()
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let dir = Dir::with_trace(long_trace());
    for form in ["", "--csv", "--json"] {
        let line = format!("{{ $IOTRAIL events t.trail {form}; echo $? > code; }} | head -1");
        let ran = dir.shell(&line).succeeds();
        assert_eq!(ran.text().lines().count(), 1);
        assert_eq!((ran.messages(), dir.read("code")), (String::new(), b"0\n".to_vec()), "{form}");
    }
    for command in
        ["dfg t.trail --json -q", "report t.trail -q -o -", "man", "completions bash", "info t.trail"]
    {
        let ran = dir.shell(&format!("{{ $IOTRAIL {command}; echo $? > code; }} | true")).succeeds();
        assert_eq!((ran.messages(), dir.read("code")), (String::new(), b"0\n".to_vec()), "{command}");
    }
}

#[test]
fn quiet_leaves_only_data_and_errors() {
    let dir = Dir::new();
    dir.write("a.st", LS);
    for words in [
        &["import", "-q", "-o", "t.trail", "a.st"][..],
        &["-q", "dfg", "t.trail"],
        &["dfg", "t.trail", "-o", "g.svg", "--quiet"],
        &["report", "-q", "t.trail"],
    ] {
        assert_eq!(dir.run(words).succeeds().messages(), "", "{words:?}");
    }
    assert!(dir.run(["info", "-q", "gone"]).fails().starts_with("error: "));
}

#[test]
fn colours_are_for_terminals_or_for_who_asks() {
    let dir = Dir::with_paper();
    let coloured = |words: &[&str], no_color: Option<&str>| {
        let command = dir.command(words.iter().chain(&["info", "paper.trail"]));
        let command = match no_color {
            Some(value) => command.env("NO_COLOR", value),
            None => command,
        };
        command.run().succeeds().stdout.contains(&0x1b)
    };
    assert!(!coloured(&[], None));
    assert!(!coloured(&["--color", "never"], None));
    assert!(coloured(&["--color", "always"], None));
    assert!(coloured(&["--colour", "always"], Some("1")));
    assert!(!coloured(&["--color=auto"], Some("1")));
    let error = dir.run(["--color", "always", "info", "gone"]).fails();
    assert!(error.starts_with("\u{1b}[1;31merror: \u{1b}[0m"), "{error:?}");
}

#[test]
fn no_color_holds_on_a_terminal() {
    let dir = Dir::with_paper();
    if dir.shell("command -v script").status.code() != Some(0) {
        return;
    }
    let on_a_terminal = |environment: &str| {
        let line = format!("{environment} script -qec '\"$IOTRAIL\" info paper.trail' /dev/null < /dev/null");
        dir.shell(&line).succeeds().stdout.contains(&0x1b)
    };
    assert!(on_a_terminal("TERM=xterm"));
    assert!(!on_a_terminal("TERM=xterm NO_COLOR=1"));
}

#[test]
fn a_fifo_is_written_to_and_stays_a_fifo() {
    let dir = Dir::with_paper();
    let line = "mkfifo f.json && { cat f.json > copy & $IOTRAIL dfg -q paper.trail -o f.json; wait; test -p f.json; }";
    dir.shell(line).succeeds();
    assert_eq!(dir.read("copy"), dir.run(["dfg", "-q", "paper.trail", "--json"]).succeeds().stdout);
}

#[test]
fn an_output_that_cannot_be_written_is_named() {
    let dir = Dir::with_paper();
    std::fs::create_dir(dir.path("d.json")).expect("a directory");
    dir.write("file", "");
    let wrong: [&[&str]; 6] = [
        &["dfg", "-q", "paper.trail", "-o", "gone/g.json"],
        &["dfg", "-q", "paper.trail", "-o", "d.json"],
        &["dfg", "-q", "paper.trail", "-o", "file/g.json"],
        &["report", "-q", "paper.trail", "-o", "gone/r.html"],
        &["events", "-q", "paper.trail", "--csv", "-o", "gone/e.csv"],
        &["compare", "-q", "paper.trail", "--by", "cid", "-o", "gone/c.svg"],
    ];
    let said: Vec<String> = wrong.iter().map(|words| dir.run(*words).fails()).collect();
    insta::assert_snapshot!(said.join(""));
}

#[test]
fn a_full_device_is_an_error_that_names_it() {
    let dir = Dir::with_trace(long_trace());
    symlink("/dev/full", dir.path("full.json")).expect("a link");
    let wrong: [&[&str]; 4] = [
        &["dfg", "-q", "t.trail", "-o", "full.json"],
        &["report", "-q", "t.trail", "-o", "full.json"],
        &["events", "-q", "t.trail", "-o", "full.json"],
        &["events", "-q", "t.trail", "--json", "-o", "full.json"],
    ];
    let said: Vec<String> = wrong.iter().map(|words| dir.run(*words).fails()).collect();
    insta::assert_snapshot!(said.join(""));
    let ran = dir.shell("$IOTRAIL events t.trail --json > /dev/full").ends_with(1);
    insta::assert_snapshot!(ran.messages());
    assert!(dir.path("full.json").is_symlink());
}

#[test]
fn help_that_cannot_be_written_is_an_error_unless_nobody_reads_it() {
    let dir = Dir::new();
    for words in ["--help", "-h", "--version", "help", "record --help"] {
        let said = dir.shell(&format!("$IOTRAIL {words} > /dev/full")).ends_with(1).messages();
        assert_eq!(said, "error: cannot write to stdout: No space left on device (os error 28)\n", "{words}");
        let piped = format!("{{ sleep 0.2; $IOTRAIL {words}; echo $? >&2; }} | :");
        assert_eq!(dir.shell(&piped).succeeds().messages(), "0\n", "{words}");
    }
}

/// Takes the file system at `small` away again, whatever becomes of the test.
struct Mounted<'a>(&'a Dir);

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        self.0.shell("umount small");
    }
}

#[test]
fn a_full_disk_leaves_no_half_file_under_the_final_name() {
    let dir = Dir::with_trace(long_trace());
    std::fs::create_dir(dir.path("small")).expect("a directory");
    // Mounting takes root; elsewhere there is nothing to test.
    if dir.shell("mount -t tmpfs -o size=16k tmpfs small 2>/dev/null").status.code() != Some(0) {
        return;
    }
    let _mounted = Mounted(&dir);
    // The table of nodes has room, that of edges has not.
    dir.write("small/fill", [0; 10_000]);
    let said =
        dir.run(["dfg", "-q", "t.trail", "--map", "file", "-o", "small/g.csv"]).ends_with(1).messages();
    assert!(said.contains("No space left on device"), "{said}");
    std::fs::remove_file(dir.path("small/fill")).expect("a file");
    let outputs: [&[&str]; 3] = [
        &["events", "-q", "t.trail", "--json", "-o", "small/e.json"],
        &["report", "-q", "t.trail", "-o", "small/r.html"],
        &["import", "-q", "a_h_1.st", "-o", "small/t.trail"],
    ];
    let said: Vec<String> = outputs.iter().map(|words| dir.run(*words).ends_with(1).messages()).collect();
    let left: Vec<_> = std::fs::read_dir(dir.path("small")).expect("a directory").collect();
    assert!(left.is_empty(), "{left:?}");
    for (said, name) in said.iter().zip(["small/e.json", "small/r.html", "small/"]) {
        assert!(said.contains(name) && said.contains("No space left on device"), "{said}");
    }
}

#[test]
fn a_file_is_replaced_whole_and_a_link_is_followed() {
    let dir = Dir::with_paper();
    dir.write("real.json", "old");
    symlink("real.json", dir.path("link.json")).expect("a link");
    dir.run(["dfg", "-q", "paper.trail", "-o", "link.json"]).succeeds();
    assert!(dir.path("link.json").is_symlink());
    assert!(dir.read("real.json").starts_with(b"{"));
    assert_eq!(dir.names(), ["link.json", "paper.trail", "real.json"]);
}

#[test]
fn a_limit_is_not_an_empty_selection() {
    let dir = Dir::with_trace(LS);
    let ran = dir.run(["events", "t.trail", "--limit", "2", "--json"]).succeeds();
    assert_eq!((ran.json_lines().len(), ran.messages()), (2, String::new()));
    assert_eq!(dir.run(["events", "t.trail", "--limit", "0", "--json"]).succeeds().messages(), "");
}
