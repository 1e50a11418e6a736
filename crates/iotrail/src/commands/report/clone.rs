//! The program of the page beside the clone that a model makes of it.

use crate::commands::runs::{RecordedRun, Trails};
use crate::commands::workload::read;
use anyhow::Context;
use iotrail_characterize::{CloneSource, Likeness, Portrait, Ranking, likeness};
use iotrail_generate::{planned, write_trail};
use iotrail_model::threads::one_per_core;
use iotrail_query::SelectSpec;
use iotrail_trail::CreateOptions;
use std::path::{Path, PathBuf};

/// Plans that stand for runs of the clone at most: their draws differ.
const MAX_PLANS: u32 = 3;

/// The picture of a model's clone beside the program: each trail is a run of it. Without recordings of the clone it is what the model plans.
///
/// # Errors
/// If a trail or the model cannot be read, or the clone is too large to plan.
pub(super) fn beside(
    trails: &[PathBuf],
    select: &SelectSpec,
    model: &Path,
    recorded: &[PathBuf],
) -> anyhow::Result<Likeness> {
    let model = read(model)?;
    let of_program = |trail: &PathBuf| portrait(trail, select.clone(), Ranking::Auto);
    let program: Vec<Portrait> = trails.iter().map(of_program).collect::<anyhow::Result<_>>()?;
    let of_clone = |trail: &PathBuf| portrait(trail, SelectSpec::default(), Ranking::Threads);
    let mut clone: Vec<Portrait> = recorded.iter().map(of_clone).collect::<anyhow::Result<_>>()?;
    let source = if clone.is_empty() { CloneSource::Planned } else { CloneSource::Recorded };
    if clone.is_empty() {
        let ranks = program.first().map_or(1, Portrait::ranks);
        let place = Trails::new()?;
        for seed in 0..(trails.len() as u32).clamp(1, MAX_PLANS) {
            let planned = planned(&model, ranks, seed.into())?;
            let trail = place.path(&format!("plan-{seed}"));
            write_trail(&planned, Path::new("/clone"), &trail, CreateOptions::default())?;
            clone.push(portrait(&trail, SelectSpec::default(), Ranking::Auto)?);
        }
    }
    Ok(likeness(&program, &clone, source)?)
}

fn portrait(trail: &Path, select: SelectSpec, ranking: Ranking) -> anyhow::Result<Portrait> {
    let run = RecordedRun::open(trail, select, ranking)?;
    Portrait::of(&run.log, &run.query, run.options, one_per_core())
        .with_context(|| trail.display().to_string())
}
