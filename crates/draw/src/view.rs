//! How somebody wants to see a graph: what shades it, what labels its edges, how much of it is drawn.

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
    /// Draw at most this many activities, the last of them in place of all others.
    pub max_nodes: usize,
    /// Draw at most this many transitions.
    pub max_edges: usize,
    /// Where the start is.
    pub direction: Direction,
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
            max_nodes: 50,
            max_edges: 100,
            direction: Direction::Down,
            title: None,
            theme: Theme::Auto,
        }
    }
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
