//! What can be done about what a text shows or leaves out. The text knows when; the program that shows it knows how, because
//! options and commands are its own.

/// What could be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// Show more rows of a table that is data too.
    MoreRows,
    /// Show more rows of a table whose rows are in JSON too.
    MoreInJson,
    /// Show more pieces of the elapsed time.
    MorePieces,
    /// See all rows as data.
    AllRows,
    /// See a whole graph of calls as data, picture or page.
    WholeGraph,
    /// See why no event was mapped.
    ExplainMapping,
    /// See the whole tables of a workflow.
    WholeTables,
    /// Give paths common names before comparing.
    MapPaths,
    /// Divide runs by what they have in common.
    CommonPhases,
    /// Record calls that wait.
    RecordWaits,
    /// Read the page of a rule of advice, whose name follows.
    ExplainRule,
}

/// The words of a program for hints: none, unless it has some.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hints(Option<fn(Hint) -> &'static str>);

impl Hints {
    /// The words of a program.
    #[must_use]
    pub const fn new(words: fn(Hint) -> &'static str) -> Self {
        Self(Some(words))
    }

    pub(crate) fn of(self, hint: Hint) -> Option<&'static str> {
        self.0.map(|words| words(hint))
    }
}
