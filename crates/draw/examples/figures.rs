//! Writes a gallery of charts, Gantt charts and workflow pictures: `cargo run -p iotrail-draw --example figures -- DIRECTORY`.

#[path = "../tests/draw/samples/mod.rs"]
#[allow(dead_code)]
mod figures;

use iotrail_draw::{PictureFormat, Theme, picture};
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = PathBuf::from(std::env::args_os().nth(1).ok_or("name a directory")?);
    let only = std::env::args().nth(2).unwrap_or_default();
    std::fs::create_dir_all(&directory)?;
    for (name, scene) in figures::all().into_iter().filter(|(name, _)| name.contains(&only)) {
        for (theme, suffix) in [(Theme::Light, ""), (Theme::Dark, "-dark")] {
            let file = directory.join(format!("{name}{suffix}.png"));
            std::fs::write(file, picture(&scene, theme, PictureFormat::Png)?)?;
        }
        std::fs::write(
            directory.join(format!("{name}.svg")),
            picture(&scene, Theme::Auto, PictureFormat::Svg)?,
        )?;
    }
    Ok(())
}
