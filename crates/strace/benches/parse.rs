//! Bytes per second of the parser on the forms that real traces consist of. Whole files: `examples/parse_speed.rs`.

use criterion::{Criterion, Throughput};
use iotrail_model::dictionaries::Dictionaries;
use iotrail_model::raw::RawItem;
use iotrail_strace::parser::{Parser, ParserSetup};
use std::fmt::{self, Write};
use std::hint::black_box;

/// Makes one to three megabytes of text of each form.
const TURNS: u32 = 2500;

fn main() -> Result<(), fmt::Error> {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("parse");
    for (what, line) in [
        ("complete lines", complete as fn(&mut String, u32) -> fmt::Result),
        ("complete lines with -y", complete_y),
        ("unfinished and resumed", interrupted),
        ("unfinished and resumed with -y", interrupted_y),
    ] {
        let text = trace(line)?;
        assert_eq!(parse(text.as_bytes()), 0, "a line of \"{what}\" is not understood");
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(what, |bencher| bencher.iter(|| parse(black_box(text.as_bytes()))));
    }
    group.finish();
    criterion.final_summary();
    Ok(())
}

fn trace(lines: fn(&mut String, u32) -> fmt::Result) -> Result<String, fmt::Error> {
    let mut text = String::new();
    (0..TURNS).try_for_each(|turn| lines(&mut text, turn))?;
    Ok(text)
}

/// The text that every line starts with: thread and time.
fn prefix(thread: u32, turn: u32) -> String {
    format!("{} 10:{:02}:{:02}.{:06}", 4000 + thread, turn / 60 % 60, turn % 60, thread * 1000)
}

fn complete(text: &mut String, turn: u32) -> fmt::Result {
    let path = "/scratch/project/run07/output";
    for thread in 0..2 {
        let at = prefix(thread, turn);
        writeln!(text, "{at} openat(AT_FDCWD, \"{path}/{turn}.dat\", O_RDONLY|O_CLOEXEC) = 3 <0.000021>")?;
        writeln!(
            text,
            "{at} newfstatat(3, \"\", {{st_mode=S_IFREG|0644, st_size=8192, ...}}, AT_EMPTY_PATH) = 0 <0.000009>"
        )?;
        writeln!(text, "{at} read(3, \"\\177ELF\\2\\1\\1\\0\\0\\0\"..., 4096) = 4096 <0.000015>")?;
        writeln!(
            text,
            "{at} access(\"/etc/ld.so.preload\", R_OK) = -1 ENOENT (No such file or directory) <0.000011>"
        )?;
        writeln!(text, "{at} close(3) = 0 <0.000007>")?;
    }
    Ok(())
}

fn complete_y(text: &mut String, turn: u32) -> fmt::Result {
    let file = format!("/scratch/project/run07/output/{turn}.dat");
    for thread in 0..2 {
        let at = prefix(thread, turn);
        writeln!(
            text,
            "{at} openat(AT_FDCWD</home/user>, \"{file}\", O_RDONLY|O_CLOEXEC) = 3<{file}> <0.000021>"
        )?;
        writeln!(
            text,
            "{at} pread64(3<{file}>, \"\\177ELF\\2\\1\\1\\0\\0\\0\"..., 4096, 8192) = 4096 <0.000015>"
        )?;
        writeln!(text, "{at} write(1<pipe:[4711]>, \"step {turn}\\n\", 32) = 32 <0.000012>")?;
        writeln!(text, "{at} close(3<{file}>) = 0 <0.000007>")?;
    }
    Ok(())
}

fn interrupted(text: &mut String, turn: u32) -> fmt::Result {
    both_halves(text, turn, "")
}

fn interrupted_y(text: &mut String, turn: u32) -> fmt::Result {
    both_halves(text, turn, &format!("</scratch/project/run07/output/{turn}.dat>"))
}

/// Every thread enters its call before the first one returns.
fn both_halves(text: &mut String, turn: u32, target: &str) -> fmt::Result {
    for thread in 0..4 {
        writeln!(text, "{} read(3{target},  <unfinished ...>", prefix(thread, turn))?;
    }
    for thread in 0..4 {
        let at =
            prefix(thread + 4, turn).split_once(' ').map_or_else(String::new, |(_, time)| time.to_owned());
        writeln!(
            text,
            "{} {at} <... read resumed>\"0.125 0.250\"..., 4096) = 4096 <0.003012>",
            4000 + thread
        )?;
    }
    Ok(())
}

/// Parses into nothing; how many lines were not understood.
fn parse(text: &[u8]) -> u64 {
    let mut parser = Parser::new(ParserSetup::default());
    let mut names = Dictionaries::default();
    parser.parse(text, true, &mut names, &mut |item: RawItem<'_>, _: &mut Dictionaries| {
        black_box(&item);
    });
    parser.coverage().lines.unparsed
}
