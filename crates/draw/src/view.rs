//! How somebody wants to see a graph: what shades it, what labels its edges, how much of it is drawn.

use crate::picture::{by_importance, importance};
use iotrail_dfg::Dfg;
use serde::{Deserialize, Serialize};

/// A wish, complete with defaults; the same view of the same graph gives the same picture.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// What the shade of a node means. [`ColourBy::Groups`] falls back to the relative duration without groups.
    pub colour_by: ColourBy,
    /// How a figure becomes a shade.
    pub scale: Scale,
    /// What is written on edges.
    pub edge_measure: EdgeMeasure,
    /// Draw at most this many activities, the last of them in place of all others; `None` for as many as [`View::room`] says.
    pub max_nodes: Option<usize>,
    /// Draw at most this many transitions.
    pub max_edges: usize,
    /// Where the start is; `None` for on top, or at the left where that picture would be higher than a page.
    pub direction: Option<Direction>,
    /// Printed above the picture, if any.
    pub title: Option<String>,
    /// Colours of the page.
    pub theme: Theme,
}

impl Default for View {
    fn default() -> Self {
        Self {
            colour_by: ColourBy::RelativeDuration,
            scale: Scale::Linear,
            edge_measure: EdgeMeasure::Count,
            max_nodes: None,
            max_edges: 100,
            direction: None,
            title: None,
            theme: Theme::Auto,
        }
    }
}

/// So many activities are drawn if nobody asks for more.
const MOST_NODES: usize = 50;
/// What holds less than this share of the time and of the events is drawn as one with what else does,
const SMALL_SHARE: f64 = 0.005;
/// as long as all that together hold no more than this.
const SMALL_TOGETHER: f64 = 0.1;

impl View {
    /// How many activities of `dfg` are drawn, the one that stands for others included. Without a wish at most 50, and
    /// none that is small; but where groups are compared, what is small may be the difference.
    #[must_use]
    pub fn room(&self, dfg: &Dfg) -> usize {
        let unasked = || {
            let large = dfg.nodes.len() - small_nodes(dfg);
            let joins = dfg.groups.is_empty() && large + 1 < dfg.nodes.len();
            if joins { MOST_NODES.min(large + 1) } else { MOST_NODES }
        };
        self.max_nodes.unwrap_or_else(unasked)
    }
}

/// How many activities are small, alone and together.
fn small_nodes(dfg: &Dfg) -> usize {
    let importance = importance(dfg);
    let order = by_importance(dfg);
    let (mut events, mut time) = (0.0, 0.0);
    let is_small = |index: &&usize| {
        let node = &dfg.nodes[**index];
        events += node.count as f64 / dfg.events.mapped.max(1) as f64;
        time += node.relative_duration.unwrap_or(0.0);
        importance[**index] < SMALL_SHARE && events <= SMALL_TOGETHER && time <= SMALL_TOGETHER
    };
    order.iter().rev().take_while(is_small).count()
}

/// Declares an enum of choices with the words a user writes for them.
macro_rules! choices {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum $name { $($(#[$doc])* #[serde(rename = $word)] $variant),+ }

        impl $name {
            /// Every choice, in the order of the help text.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word a user writes for it.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(word: &str) -> Result<Self, String> {
                Self::ALL.iter().copied().find(|choice| choice.word() == word).ok_or_else(|| {
                    let words: Vec<&str> = Self::ALL.iter().map(|choice| choice.word()).collect();
                    format!("`{word}` is not one of {}", words.join(", "))
                })
            }
        }
    };
}

pub(crate) use choices;

choices! {
    /// What the colour of a node means (Sankaran et al., section IV-C).
    ColourBy {
        /// Share of the time of all mapped events: the darker, the more.
        RelativeDuration = "duration",
        /// Bytes moved.
        Bytes = "bytes",
        /// Number of events.
        Count = "count",
        /// Process data rate.
        DataRate = "data-rate",
        /// Maximal concurrency.
        MaxConcurrency = "max-concurrency",
        /// The groups of a partition: exclusive ones by group, shared ones by how unequal they are.
        Groups = "groups",
    }
}

choices! {
    /// How a figure becomes a shade.
    Scale {
        /// In proportion.
        Linear = "linear",
        /// By orders of magnitude.
        Log = "log",
    }
}

choices! {
    /// What is written on edges.
    EdgeMeasure {
        /// How often one activity directly follows the other.
        Count = "count",
        /// In how many cases.
        Cases = "cases",
        /// Median of the gap between end and next start.
        Gap = "gap",
    }
}

choices! {
    /// Where the graph grows to from its start.
    Direction {
        /// Start on top.
        Down = "down",
        /// Start at the left.
        Right = "right",
    }
}

choices! {
    /// Colours of the page.
    Theme {
        /// Light, and dark where the viewer prefers it (SVG only; elsewhere light).
        Auto = "auto",
        /// Dark on white.
        Light = "light",
        /// Light on black.
        Dark = "dark",
    }
}

impl Direction {
    /// The same for a layout.
    pub(crate) fn of_layout(self) -> iotrail_layout::Direction {
        match self {
            Self::Down => iotrail_layout::Direction::Down,
            Self::Right => iotrail_layout::Direction::Right,
        }
    }
}
