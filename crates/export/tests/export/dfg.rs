//! Every format, read back by somebody else where there is somebody else.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails by panicking and skips aloud")]

use iotrail_draw::{ColourBy, Dfg, Theme, View};
use iotrail_export::{ExportError, Format, Subject, dfg_files as files, write_dfg as export};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

fn text(dfg: &Dfg, view: &View, format: Format) -> String {
    String::from_utf8(export(dfg, view, format).unwrap()).unwrap()
}

fn samples() -> Vec<(Dfg, View)> {
    let groups = View { colour_by: ColourBy::Groups, ..View::default() };
    vec![
        (crate::graphs::paper(), View::default()),
        (crate::graphs::paper(), groups.clone()),
        (crate::graphs::hostile(), View::default()),
        (crate::graphs::hostile(), groups),
        (crate::graphs::random(76, 1312, 9, true), View { colour_by: ColourBy::DataRate, ..View::default() }),
        (Dfg::default(), View::default()),
    ]
}

/// What `program` says about `input`; nothing if it is not installed, which is said aloud.
fn asked(program: &str, arguments: &[&str], input: &[u8]) -> Option<(bool, String)> {
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        eprintln!("SKIPPED: `{program}` is not installed, so its opinion is not asked");
        return None;
    };
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    let _ = writer.join();
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Some((output.status.success(), said))
}

#[test]
fn json_comes_back_equal() {
    for (dfg, view) in samples() {
        let back: Dfg = serde_json::from_str(&text(&dfg, &view, Format::Json)).unwrap();
        assert_eq!(back, dfg);
    }
}

#[test]
fn every_format_is_the_same_every_time() {
    for (dfg, view) in samples() {
        for format in Format::all(Subject::Dfg).filter(|format| *format != Format::Png) {
            assert_eq!(
                export(&dfg, &view, format).unwrap(),
                export(&dfg, &view, format).unwrap(),
                "{format:?}"
            );
        }
    }
    let (dfg, view) = (crate::graphs::paper(), View::default());
    assert_eq!(export(&dfg, &view, Format::Png).unwrap(), export(&dfg, &view, Format::Png).unwrap());
}

#[test]
fn svg_is_well_formed_xml_and_inert() {
    for (dfg, view) in samples() {
        for theme in [Theme::Auto, Theme::Light, Theme::Dark] {
            let svg = text(&dfg, &View { theme, ..view.clone() }, Format::Svg);
            assert!(!svg.contains("<script") && !svg.contains("href"), "{theme:?}");
            assert!(!svg.chars().any(|character| character.is_control() && character != '\n'), "{theme:?}");
            assert!(!svg.contains(['\u{202e}', '\u{200b}', '\u{2066}', '\u{feff}']), "{theme:?}");
            if let Some((well_formed, said)) = asked("xmllint", &["--noout", "-"], svg.as_bytes()) {
                assert!(well_formed, "{said}");
            }
            if let Some((well_formed, said)) = asked("rsvg-convert", &["-f", "svg"], svg.as_bytes()) {
                assert!(well_formed, "{said}");
            }
        }
    }
}

#[test]
fn dot_draws_the_dot_file() {
    for (dfg, view) in samples() {
        let dot = text(&dfg, &View { max_nodes: Some(12), max_edges: 20, ..view }, Format::Dot);
        if let Some((accepted, said)) = asked("dot", &["-Tsvg"], dot.as_bytes()) {
            assert!(accepted && said.contains("</svg>"), "{said}\n{dot}");
            assert!(!said.contains("Warning") && !said.contains("Error"), "{said}");
        }
    }
}

#[test]
fn dot_shows_hostile_names_as_they_are() {
    let dot = text(&crate::graphs::hostile(), &View::default(), Format::Dot);
    assert!(dot.contains(r#"\"quoted\" 'single' `back` \\N\\l\\G\\"#), "{dot}");
    if let Some((_, svg)) = asked("dot", &["-Tsvg"], dot.as_bytes()) {
        assert!(svg.contains(r"`back` \N\l\G\"), "{svg}");
        assert!(!svg.contains("<script>"));
    }
}

#[test]
fn csv_cells_come_back_byte_for_byte() {
    let dfg = crate::graphs::hostile();
    let rows = parse_csv(&text(&dfg, &View::default(), Format::NodesCsv));
    let names: Vec<&str> = rows[1..].iter().map(|row| row[0].as_str()).collect();
    let expected: Vec<&str> = dfg.nodes.iter().map(|node| &*node.activity).collect();
    assert_eq!(names, expected);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()));
    let edges = parse_csv(&text(&dfg, &View::default(), Format::EdgesCsv));
    assert_eq!(edges.len(), dfg.edges.len() + 1);
    assert!(edges.iter().all(|row| row.len() == edges[0].len()));
}

/// RFC 4180 with LF for line ends.
fn parse_csv(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            other => cell.push(other),
        }
    }
    assert!(cell.is_empty() && row.is_empty() && !quoted, "the file ends with a line break");
    rows
}

#[test]
fn a_csv_path_means_two_files() {
    let written = files(&crate::graphs::paper(), &View::default(), Path::new("/out/x.csv")).unwrap();
    let names: Vec<_> = written.iter().map(|(path, _)| path.to_str().unwrap()).collect();
    assert_eq!(names, ["/out/x.nodes.csv", "/out/x.edges.csv"]);
    let one = files(&crate::graphs::paper(), &View::default(), Path::new("x.edges.csv")).unwrap();
    assert_eq!(one.len(), 1);
    assert!(one[0].1.starts_with(b"from,to,count"));
}

#[test]
fn an_unknown_extension_is_an_error_that_names_the_known_ones() {
    let error = files(&crate::graphs::paper(), &View::default(), Path::new("x.docx")).unwrap_err();
    assert!(matches!(error, ExportError::UnknownEnding { .. }));
    assert!(error.to_string().contains(".graphml"), "{error}");
}

#[test]
fn graphml_is_read_by_networkx() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/interop/check_graphml.py");
    for (dfg, view) in samples() {
        let graphml = text(&dfg, &view, Format::GraphMl);
        let json = text(&dfg, &view, Format::Json);
        let directory = tempfile::tempdir().unwrap();
        let (xml, data) = (directory.path().join("x.graphml"), directory.path().join("x.json"));
        std::fs::write(&xml, graphml).unwrap();
        std::fs::write(&data, json).unwrap();
        let python = std::env::var("IOTRAIL_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let Ok(output) = Command::new(&python).arg(script).arg(&xml).arg(&data).output() else {
            eprintln!("SKIPPED: `{python}` is not installed, so networkx is not asked");
            return;
        };
        let said = String::from_utf8_lossy(&output.stderr);
        if output.status.code() == Some(77) {
            eprintln!("SKIPPED: {said}");
            return;
        }
        assert!(output.status.success(), "{said}");
    }
}

#[test]
fn png_has_two_pixels_for_each_point_and_pdf_one_page() {
    let dfg = crate::graphs::paper();
    let png = export(&dfg, &View::default(), Format::Png).unwrap();
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
    let svg = text(&dfg, &View::default(), Format::Svg);
    let width: u32 = svg.split("width=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
    assert_eq!(u32::from_be_bytes(png[16..20].try_into().unwrap()), 2 * width);
    let pdf = export(&dfg, &View::default(), Format::Pdf).unwrap();
    assert!(pdf.starts_with(b"%PDF-1.7") && pdf.ends_with(b"%%EOF"));
    if let Some((well_formed, said)) = asked("pdfinfo", &["-"], &pdf) {
        assert!(well_formed && said.contains("Pages:           1"), "{said}");
    }
}

#[test]
fn mermaid_holds_no_sign_that_could_end_a_label() {
    for (dfg, view) in samples() {
        let chart = text(&dfg, &view, Format::Mermaid);
        for line in chart.lines().filter(|line| line.contains("[\"")) {
            let label = line.split_once("[\"").unwrap().1.strip_suffix("\"]").unwrap();
            let bare = label.replace("<br/>", "");
            assert!(!bare.contains(['"', '<', '>', '`', '[', ']', '\\', '|', '{', '}']), "{line}");
        }
    }
}
