//! How a graph is synthesized and drawn.

use crate::args::choice;
use iotrail_dfg::{ConcurrencyRule, DfgOptions};
use iotrail_draw::{ColourBy, Direction, EdgeMeasure, Scale, Theme, View};
use std::num::NonZeroUsize;

const SYNTHESIS: &str = "Synthesis";
const PICTURE: &str = "Picture";

/// How the graph is computed.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = SYNTHESIS)]
pub(crate) struct Synthesis {
    /// How concurrent events are counted: `exact` (sweep line) or `paper` (runs of consecutive events).
    #[arg(long, value_name = "RULE", default_value = "exact", value_parser = concurrency_rule)]
    max_concurrency: ConcurrencyRule,

    /// Number of threads; the result is the same. Default: one per core.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

fn concurrency_rule(word: &str) -> Result<ConcurrencyRule, String> {
    let rules = [ConcurrencyRule::Exact, ConcurrencyRule::Paper];
    rules
        .into_iter()
        .find(|rule| rule.name() == word)
        .ok_or_else(|| format!("`{word}` is not one of exact, paper"))
}

impl Synthesis {
    pub(crate) fn options(&self) -> DfgOptions {
        let default = DfgOptions::default();
        DfgOptions { max_concurrency: self.max_concurrency, threads: self.threads.unwrap_or(default.threads) }
    }
}

/// How a picture of the graph looks (SVG, PNG, PDF, DOT, Mermaid).
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = PICTURE)]
pub(crate) struct Picture {
    /// What the colour of an activity means: `duration`, `bytes`, `count`, `data-rate`, `max-concurrency`, or `groups`.
    /// Default: `groups` if there are groups, else `duration`.
    #[arg(long, visible_alias = "colour-by", value_name = "FIGURE", value_parser = choice::<ColourBy>)]
    color_by: Option<ColourBy>,

    /// Colour scale: `linear` or `log`.
    #[arg(long, value_name = "SCALE", default_value = "linear", value_parser = choice::<Scale>)]
    scale: Scale,

    /// Label of transitions: `count`, `cases` or `gap`.
    #[arg(long, value_name = "FIGURE", default_value = "count", value_parser = choice::<EdgeMeasure>)]
    edge_label: EdgeMeasure,

    /// Draw at most N activities, those with most time or events; the rest are joined into one. Without it at most 50, and
    /// those that each have less than 0.5 % of the time and of the events (10 % together) are joined, unless groups are compared.
    #[arg(long, value_name = "N")]
    max_nodes: Option<usize>,

    /// Draw at most N transitions; the picture states how many are hidden.
    #[arg(long, value_name = "N", default_value_t = View::default().max_edges)]
    max_edges: usize,

    /// Layout direction: `down` or `right`. Without it `down`, or `right` where that picture would be more than 1.5 times as
    /// high as wide.
    #[arg(long, value_name = "DIRECTION", value_parser = choice::<Direction>)]
    direction: Option<Direction>,

    /// Colours: `auto` (light, in SVG dark where the viewer prefers it), `light` or `dark`.
    #[arg(long, value_name = "THEME", default_value = "auto", value_parser = choice::<Theme>)]
    theme: Theme,

    /// Title above the picture.
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
}

impl Picture {
    pub(crate) fn view(&self, grouped: bool) -> View {
        let default = if grouped { ColourBy::Groups } else { ColourBy::RelativeDuration };
        View {
            colour_by: self.color_by.unwrap_or(default),
            scale: self.scale,
            edge_measure: self.edge_label,
            max_nodes: self.max_nodes,
            max_edges: self.max_edges,
            direction: self.direction,
            title: self.title.clone(),
            theme: self.theme,
        }
    }
}
