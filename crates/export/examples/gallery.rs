//! Writes a gallery of pictures: `cargo run -p iotrail-export --example gallery -- DIRECTORY`.

#[path = "../../draw/tests/draw/graphs/mod.rs"]
#[allow(dead_code)]
mod graphs;

use iotrail_draw::{ColourBy, Dfg, Direction, Scale, Theme, View};
use iotrail_export::{Format, Subject, write_dfg};
use std::path::{Path, PathBuf};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = PathBuf::from(std::env::args_os().nth(1).ok_or("name a directory")?);
    std::fs::create_dir_all(&directory)?;
    let groups = View { colour_by: ColourBy::Groups, ..View::default() };
    let log = View { scale: Scale::Log, ..View::default() };
    let pictures: Vec<(&str, Dfg, View)> = vec![
        ("paper", graphs::paper(), View::default()),
        ("paper-groups", graphs::paper(), groups.clone()),
        ("paper-dark", graphs::paper(), View { theme: Theme::Dark, ..groups.clone() }),
        ("paper-right", graphs::paper(), View { direction: Some(Direction::Right), ..View::default() }),
        ("make", graphs::random(76, 136, 7, false), log.clone()),
        ("dense", graphs::random(76, 1312, 9, false), log),
        ("dense-groups", graphs::random(76, 1312, 9, true), groups),
        ("hostile", graphs::hostile(), View { title: Some("Hostile names".to_owned()), ..View::default() }),
    ];
    for (name, dfg, view) in &pictures {
        write(&directory, name, dfg, view)?;
    }
    Ok(())
}

fn write(directory: &Path, name: &str, dfg: &Dfg, view: &View) -> Result<(), Box<dyn std::error::Error>> {
    for extension in ["svg", "png", "pdf"] {
        let path = directory.join(format!("{name}.{extension}"));
        let format = Format::from_path(&path, Subject::Dfg)?;
        let begin = Instant::now();
        let bytes = write_dfg(dfg, view, format)?;
        let elapsed = begin.elapsed();
        std::fs::write(&path, &bytes)?;
        report(&format!("{} {} bytes, {elapsed:.0?}\n", path.display(), bytes.len()))?;
    }
    Ok(())
}

fn report(line: &str) -> std::io::Result<()> {
    use std::io::Write;
    std::io::stdout().write_all(line.as_bytes())
}
