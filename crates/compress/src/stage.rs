//! How far the work on a structure is. Nothing here knows about terminals.

/// Stages of the work on a structure, in order; each goes over all events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Events are read.
    Reading,
    /// Loops are found.
    Loops,
    /// Events are compared with what those before foresee.
    Changes,
    /// What changes is kept in the smallest form.
    Columns,
    /// What may become distributions is gathered.
    Distributions,
}

/// Is told a stage and the number of events that are done in it.
pub type Step<'a> = &'a mut dyn FnMut(Stage, u64);
