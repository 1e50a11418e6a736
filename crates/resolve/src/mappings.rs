//! Calls on memory: which file they map, and which mapped file they act on.
//!
//! `path` and `offset` of munmap, mremap, msync, madvise, mprotect and the like are those of the first file mapping in their
//! range, the offset that of its first byte there. Of anonymous memory both are NULL.

use crate::address_spaces::{AddressSpaces, Mapped, SpaceId, pages};
use crate::descriptor_tables::DescriptionId;
use crate::effect::Effect;
use crate::operands::{Operands, Position, integer};
use crate::symbols;
use iotrail_model::calls::{ArgKind, CallSpec};
use iotrail_model::raw::{RawCall, Return};
use std::ops::Range;

/// The arguments of one kind, as numbers.
fn numbers(spec: Option<&CallSpec>, call: &RawCall<'_>, wanted: ArgKind) -> [Option<u64>; 2] {
    let kinds = spec.map_or(&[][..], |spec| spec.args);
    let args = kinds.iter().zip(call.args).filter(|(kind, _)| **kind == wanted);
    let mut numbers = args.map(|(_, arg)| integer(arg).map(|number| number as u64));
    [numbers.next().flatten(), numbers.next().flatten()]
}

/// The pages that a call acts on.
fn range(spec: Option<&CallSpec>, call: &RawCall<'_>) -> Option<Range<u64>> {
    let [start, _] = numbers(spec, call, ArgKind::Address);
    let [length, _] = numbers(spec, call, ArgKind::Extent);
    Some(pages(start?, length?))
}

fn returned(call: &RawCall<'_>) -> Option<u64> {
    match call.ret {
        Return::Value(address, _) if address > 0 => Some(address as u64),
        _ => None,
    }
}

/// Whether mmap was told to map no file, whatever descriptor it was given.
pub(crate) fn is_anonymous(operands: &Operands<'_>) -> bool {
    operands.flags[1].is_some_and(|flags| symbols::MAP_ANONYMOUS.is_in(flags))
}

impl AddressSpaces {
    /// The file that is mapped to the memory a call acts on.
    pub(crate) fn touched(
        &self,
        space: SpaceId,
        effect: Effect,
        spec: Option<&CallSpec>,
        call: &RawCall<'_>,
    ) -> Option<Mapped> {
        if !matches!(effect, Effect::Unmap | Effect::Remap | Effect::Touch) {
            return None;
        }
        let range = range(spec, call)?;
        // mremap of nothing makes a second mapping of the page that it names.
        let range = match effect {
            Effect::Remap if range.is_empty() => pages(range.start, 1),
            _ => range,
        };
        self.first(space, &range)
    }

    /// mmap succeeded: whether it maps a file.
    pub(crate) fn map_by_call(
        &mut self,
        space: SpaceId,
        spec: Option<&CallSpec>,
        call: &RawCall<'_>,
        operands: &Operands<'_>,
        description: Option<DescriptionId>,
    ) -> bool {
        let [length, _] = numbers(spec, call, ArgKind::Extent);
        let Some((address, length)) = returned(call).zip(length) else { return false };
        let range = pages(address, length);
        match (description, operands.position) {
            (Some(description), Position::At(offset)) if !is_anonymous(operands) => {
                self.map(space, &range, Mapped { description, offset });
            }
            _ => self.unmap(space, &range),
        }
        operands.fd.is_some() && !is_anonymous(operands)
    }

    /// munmap succeeded or was entered: what it frees may be used again before it returns.
    pub(crate) fn unmap_by_call(&mut self, space: SpaceId, spec: Option<&CallSpec>, call: &RawCall<'_>) {
        if let Some(range) = range(spec, call) {
            self.unmap(space, &range);
        }
    }

    /// mremap succeeded.
    pub(crate) fn remap_by_call(
        &mut self,
        space: SpaceId,
        spec: Option<&CallSpec>,
        call: &RawCall<'_>,
        operands: &Operands<'_>,
    ) {
        let [_, length] = numbers(spec, call, ArgKind::Extent);
        let (Some(old), Some((start, length))) = (range(spec, call), returned(call).zip(length)) else {
            return;
        };
        let new = pages(start, length);
        if old.is_empty() {
            let file = self.first(space, &pages(old.start, 1));
            return match file {
                Some(file) => self.map(space, &new, file),
                None => self.unmap(space, &new),
            };
        }
        let keep = operands.flags[0].is_some_and(|flags| symbols::MREMAP_DONTUNMAP.is_in(flags));
        self.remap(space, &old, &new, keep);
    }
}
