//! What exports of models of workloads have in common: the model, its ranks, and what the other format does not have.

use crate::commands::workload::{Scaling, read};
use crate::ui::Ui;
use anyhow::ensure;
use iotrail_workload::Model;
use std::path::PathBuf;

/// A model, for so many ranks.
#[derive(Debug, clap::Args)]
pub(super) struct ForRanks {
    /// The model file; `-` is stdin.
    #[arg(value_name = "MODEL")]
    pub(super) model: PathBuf,

    /// Ranks. Default: those of the model.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    ranks: Option<u32>,

    /// Refuse to lose anything.
    #[arg(long)]
    strict: bool,

    #[command(flatten)]
    knobs: Scaling,
}

impl ForRanks {
    /// The changed model, which has a program, and the number of ranks.
    ///
    /// # Errors
    /// If the model cannot be read or changed, or has none.
    pub(super) fn program(&self) -> anyhow::Result<(Model, u32)> {
        Ok(self.for_ranks(self.knobs.apply_to_program(&read(&self.model)?)?))
    }

    /// The changed model, also one whose order is drawn, and the number of ranks.
    ///
    /// # Errors
    /// If the model cannot be read or changed.
    pub(super) fn model(&self) -> anyhow::Result<(Model, u32)> {
        Ok(self.for_ranks(self.knobs.apply(&read(&self.model)?)?))
    }

    fn for_ranks(&self, model: Model) -> (Model, u32) {
        let ranks = model.ranks_of_run(self.ranks);
        (model, ranks)
    }

    /// Tells what is lost.
    ///
    /// # Errors
    /// If nothing may be lost.
    pub(super) fn tell(&self, losses: &[String], ui: &Ui) -> anyhow::Result<()> {
        ensure!(!self.strict || losses.is_empty(), "this would lose {}", losses.join("; "));
        losses.iter().for_each(|loss| ui.warn(&format!("lost: {loss}")));
        Ok(())
    }
}
