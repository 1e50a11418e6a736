//! Where what was read goes.

use iotrail_model::dictionaries::Dictionaries;
use iotrail_model::raw::RawItem;

/// Takes what was read.
pub(super) trait Sink: FnMut(RawItem<'_>, &mut Dictionaries) {}

impl<F: FnMut(RawItem<'_>, &mut Dictionaries)> Sink for F {}

/// A sink and the names that its items refer to.
pub(super) struct Out<'a, S> {
    pub(super) names: &'a mut Dictionaries,
    pub(super) sink: &'a mut S,
}

impl<S: Sink> Out<'_, S> {
    #[inline]
    pub(super) fn emit(&mut self, item: RawItem<'_>) {
        (self.sink)(item, self.names);
    }
}
