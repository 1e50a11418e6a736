//! Names that want to take over a terminal, a page or a table.

use crate::cli::util::{Dir, csv};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// What strace prints for `bytes` between double quotes.
fn quoted(bytes: &[u8]) -> String {
    bytes
        .iter()
        .map(|byte| match byte {
            b'"' | b'\\' => format!("\\{}", char::from(*byte)),
            0x20..=0x7e => char::from(*byte).to_string(),
            byte => format!("\\{byte:03o}"),
        })
        .collect()
}

fn names() -> Vec<Vec<u8>> {
    let mut names: Vec<Vec<u8>> = [
        "/d/\u{1b}[31mred\u{1b}[0m",
        "/d/\u{1b}]0;title\u{7}",
        "/d/\u{202e}txt.exe",
        "/d/<script>alert(1)</script>",
        "/d/]]>&amp;<!--",
        "/d/new\nline\r\nand\ttab",
        "/d/quote\"s, commas, 'and' `ticks`",
        "/d/) = 5 <0.1>",
        "/d/<unfinished ...>",
        "/d/=cmd()|'/c calc'!A1",
        "/d/csi\u{9b}31m",
        "/d/</text></svg>",
        "/d/\\x41",
        "/d/zero\u{200b}width\u{2028}line",
        "/d/tags\u{e0001}\u{e0041}\u{e007f}joined\u{200d}\u{2060}\u{feff}",
        "/d/fill\u{3164}\u{ffa0}\u{115f}soft\u{ad}\u{34f}\u{17b4}\u{180e}\u{fe0f}\u{e0100}\u{61c}\u{fff9}",
        "/d/trailing space ",
    ]
    .map(|name| name.as_bytes().to_vec())
    .into();
    names.push(b"/d/\xff\xfe-invalid".to_vec());
    names
}

fn trace() -> String {
    let mut text = String::new();
    for (index, name) in names().iter().enumerate() {
        let name = quoted(name);
        text.push_str(&format!(
            "7  10:00:{index:02}.000100 openat(AT_FDCWD, \"{name}\", O_RDONLY) = 3 <0.000010>\n\
             7  10:00:{index:02}.000200 read(3, \"x\", 10) = 1 <0.000010>\n\
             7  10:00:{index:02}.000300 close(3) = 0 <0.000010>\n"
        ));
    }
    text.push_str("7  10:00:59.0 \x1b[31m not a line \u{202e} of strace\n");
    text
}

/// Whether a terminal would do something about it. Line ends are the program's own.
#[track_caller]
fn assert_tame(what: &str, bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).expect("UTF-8");
    let wild = |character: &char| {
        (character.is_control() && *character != '\n')
            || ('\u{200b}'..='\u{200f}').contains(character)
            || ('\u{2028}'..='\u{202e}').contains(character)
            || ('\u{2060}'..='\u{206f}').contains(character)
            || ('\u{fe00}'..='\u{fe0f}').contains(character)
            || ('\u{e0000}'..='\u{e0fff}').contains(character)
            || "\u{ad}\u{34f}\u{61c}\u{115f}\u{17b4}\u{180e}\u{3164}\u{feff}\u{ffa0}\u{fff9}"
                .contains(*character)
    };
    if let Some(found) = text.chars().find(wild) {
        let line = text.lines().find(|line| line.contains(found)).unwrap_or_default();
        panic!("{what}: {found:?} in {line:?}");
    }
}

#[test]
fn what_people_read_holds_no_control_characters() {
    let dir = Dir::with_trace(trace());
    let commands: [&[&str]; 9] = [
        &["info", "t.trail"],
        &["check", "t.trail"],
        &["events", "t.trail"],
        &["dfg", "t.trail"],
        &["dfg", "t.trail", "--map", "file", "--top", "100"],
        &["dfg", "t.trail", "--map", "file", "--map-explain"],
        &["dfg", "t.trail", "--map", "ext", "--map-explain"],
        &["compare", "t.trail", "t.trail", "--map", "file"],
        &["import", "-o", "u.trail", "a_h_1.st"],
    ];
    for words in commands {
        let ran = dir.run(words).succeeds();
        assert_tame(&format!("stdout of {words:?}"), &ran.stdout);
        assert_tame(&format!("stderr of {words:?}"), &ran.stderr);
    }
}

/// What a terminal gets, without the carriage returns that it makes of line ends; `None` if there is nothing to make one.
fn on_a_terminal(dir: &Dir, words: &[&str]) -> Option<Vec<u8>> {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let line = format!("'{}' {}", env!("CARGO_BIN_EXE_iotrail"), quoted.join(" "));
    let made = std::process::Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .current_dir(dir.path(""))
        .env("NO_COLOR", "1")
        .stdin(std::process::Stdio::null())
        .output()
        .ok()?;
    assert!(made.status.success(), "{line}: {}", String::from_utf8_lossy(&made.stdout));
    Some(String::from_utf8_lossy(&made.stdout).replace("\r\n", "\n").into_bytes())
}

#[test]
fn every_format_is_tame_on_a_terminal() {
    let dir = Dir::with_trace(trace());
    let commands = [
        "dfg t.trail --map file --format nodes.csv",
        "dfg t.trail --map file --format edges.csv",
        "dfg t.trail --map file --format dot",
        "dfg t.trail --map file --format graphml",
        "dfg t.trail --map file --format mmd",
        "dfg t.trail --map file --format svg",
        "dfg t.trail --map file --format json",
        "events t.trail --csv",
        "events t.trail --json",
        "files t.trail --csv",
        "files t.trail --json",
        "processes t.trail --csv",
        "stats t.trail --table calls --csv",
        "stats t.trail --json",
        "compare t.trail t.trail --map file --json",
        "tree t.trail --json",
        "info t.trail --json",
        "workflow t.trail --json",
        "workflow t.trail --format gml",
        "workflow t.trail --format graphml",
        "workflow t.trail --format prov",
        "workflow t.trail --format cyjs",
        "workflow t.trail --format dot",
        "report t.trail -o -",
    ];
    for command in commands {
        let words: Vec<&str> = command.split(' ').collect();
        let Some(shown) = on_a_terminal(&dir, &words) else {
            eprintln!("NOT TESTED: there is no `script`");
            return;
        };
        // Tabs are left as they are.
        let without_tabs: Vec<u8> = shown.into_iter().filter(|byte| *byte != b'\t').collect();
        assert_tame(command, &without_tabs);
    }
}

#[test]
fn csv_and_json_of_events_hold_the_exact_names() {
    let dir = Dir::with_trace(trace());
    let rows = dir.run(["events", "t.trail", "--json"]).succeeds().json_lines();
    let table = csv(&dir.run(["events", "t.trail", "--csv"]).succeeds().text());
    assert_eq!(table.len(), rows.len() + 1);
    assert!(table.iter().all(|record| record.len() == table[0].len()));
    let column = table[0].iter().position(|name| name == "path").expect("a column of paths");
    for (index, name) in names().into_iter().enumerate() {
        // Bytes that are not UTF-8, and what reads like their escape, are escaped.
        let expected = match String::from_utf8(name) {
            Ok(text) => text.replace("\\x41", "\\x5cx41"),
            Err(_) => "/d/\\xff\\xfe-invalid".to_owned(),
        };
        for row in 3 * index..3 * index + 3 {
            assert_eq!(rows[row]["path"], expected);
            assert_eq!(table[row + 1][column], expected);
        }
    }
}

#[test]
fn pictures_and_pages_hold_hostile_names_as_text() {
    let dir = Dir::with_trace(trace());
    let outputs =
        ["-o", "g.svg", "-o", "g.html", "-o", "g.graphml", "-o", "g.dot", "-o", "g.mmd", "-o", "g.csv"];
    let words = ["dfg", "-q", "t.trail", "--map", "file", "--title", "<script>\u{1b}[1m"];
    dir.run(words.into_iter().chain(outputs)).succeeds();
    for file in ["g.svg", "g.html", "g.graphml"] {
        let text = String::from_utf8(dir.read(file)).expect("UTF-8");
        assert!(!text.contains("<script>alert"), "{file}");
        assert!(!text.contains('\u{1b}'), "{file}");
        assert!(!text.contains("</text></svg></"), "{file}");
    }
    for file in ["g.nodes.csv", "g.edges.csv"] {
        let table = csv(&String::from_utf8(dir.read(file)).expect("UTF-8"));
        assert!(table.iter().all(|record| record.len() == table[0].len()), "{file}");
    }
}

#[test]
fn hostile_names_of_files_and_cases_are_shown_escaped() {
    let dir = Dir::new();
    let name = OsString::from_vec(b"a\x1b[31m\n_h\xff_\xe2\x80\xae1.st".to_vec());
    std::fs::write(dir.path(&name), crate::cli::util::LS).expect("a file");
    let trail = OsString::from_vec(b"t\x1b[2J\xff.trail".to_vec());
    let import = ["import".into(), "-o".into(), trail.clone(), name, OsString::from("gone\u{1b}[31m")];
    let ran = dir.run(import).ends_with(1);
    assert_tame("import", &ran.stderr);
    for command in ["info", "check", "events", "dfg"] {
        let ran = dir.run([OsString::from(command), trail.clone()]).succeeds();
        assert_tame(command, &ran.stdout);
        assert_tame(command, &ran.stderr);
    }
    for command in ["info", "check", "events", "dfg"] {
        let ran = dir.run([command, "gone\u{1b}[31m\u{202e}"]).ends_with(1);
        assert_tame(command, &ran.stdout);
        assert_tame(command, &ran.stderr);
    }
    let words = ["dfg".into(), trail, "-o".into(), OsString::from("g\u{1b}[31m.xyz")];
    assert_tame("dfg", &dir.run(words).ends_with(2).stderr);
}
