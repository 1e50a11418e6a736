//! Recordings whose result is a structure: a trail beside it while the program runs, which is compressed at the end.

use crate::{output, ui::Ui};
use anyhow::{Context, bail};
use iotrail_compress::{CompressOptions, Stage, compress};
use iotrail_model::units;
use iotrail_structure::Precision;
use iotrail_trail::EventLog;
use std::fs::{self, DirBuilder};
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// How exact the structure is.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct StructureArgs {
    /// How exact counts, sizes and offsets of a structure are, in percent; 100 keeps every one.
    #[arg(long, value_name = "PERCENT", default_value_t = 100)]
    pub(crate) precision: u64,

    /// How exact times of a structure are, in percent; 100 keeps every one.
    #[arg(long, value_name = "PERCENT", default_value_t = 95)]
    pub(crate) time_precision: u64,
}

impl StructureArgs {
    pub(crate) fn options(self) -> anyhow::Result<CompressOptions> {
        Ok(CompressOptions {
            time_precision: Precision::new(self.time_precision)?,
            precision: Precision::new(self.precision)?,
            buckets: Some(16),
        })
    }

    /// Whether something else than the defaults was asked for.
    pub(crate) fn is_given(self) -> bool {
        (self.precision, self.time_precision) != (100, 95)
    }
}

/// Whether a file of that name is to be a structure.
pub(crate) fn is_structure_name(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "structure")
}

/// Refuses the name of a structure for a trail.
///
/// # Errors
/// The trail would be called like a structure.
pub(crate) fn no_structure_name(path: &Path) -> anyhow::Result<()> {
    anyhow::ensure!(
        !is_structure_name(path),
        "{}: what is written is a trail: call it NAME.trail; iotrail compress makes a structure of it",
        path.display()
    );
    Ok(())
}

/// Where the trail of a structure is until it is compressed.
pub(crate) fn trail_beside(structure: &Path) -> PathBuf {
    let mut name = structure.as_os_str().to_owned();
    name.push(".trail");
    name.into()
}

/// Makes the place of the trail, which only its owner can read.
pub(crate) fn begin(structure: &Path, replace: bool) -> anyhow::Result<PathBuf> {
    if !replace && structure.symlink_metadata().is_ok() {
        bail!("{} exists already; --force replaces it", structure.display());
    }
    let trail = trail_beside(structure);
    match DirBuilder::new().mode(0o700).create(&trail) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            Err(error).with_context(|| format!("cannot make {}", trail.display()))
        }
        _ => Ok(trail),
    }
}

/// Removes the place of a trail that could not begin; one in which something lies stays.
pub(crate) fn abandon(trail: &Path) {
    let _ = fs::remove_dir(trail);
}

/// A stage of the work on a structure in words.
pub(crate) fn words(stage: Stage) -> &'static str {
    match stage {
        Stage::Reading => "reading",
        Stage::Loops => "finding loops",
        Stage::Changes => "finding changes",
        Stage::Columns => "packing columns",
        Stage::Distributions => "making distributions",
    }
}

/// Compresses the trail beside a structure, and removes it when the structure is there.
pub(crate) fn finish(structure: &Path, options: &CompressOptions, ui: &Ui) -> anyhow::Result<()> {
    let trail = trail_beside(structure);
    let done = made_of(&trail, structure, options, ui);
    let name = trail.display();
    done.with_context(|| {
        format!("the recording is in {name}: iotrail compress {name} -o {}", structure.display())
    })?;
    fs::remove_dir_all(&trail).with_context(|| format!("cannot remove {name}, which the structure replaces"))
}

fn made_of(trail: &Path, structure: &Path, options: &CompressOptions, ui: &Ui) -> anyhow::Result<()> {
    let log = EventLog::open(&[trail.to_owned()])?;
    let (bar, total) = (ui.event_bar("reading"), log.rows());
    let step = &mut |stage, done| bar.show_stage(words(stage), done, total);
    let mut document = compress(&log, options, step)?;
    document.about.trails =
        vec![structure.with_extension("").file_name().unwrap_or_default().to_string_lossy().into_owned()];
    bar.show_stage("writing", total, total);
    let bytes = document.to_bytes()?;
    bar.clear();
    output::structure(structure, &bytes, true)?;
    ui.info(&format!("{}: {}", structure.display(), units::bytes(bytes.len() as f64)));
    Ok(())
}
