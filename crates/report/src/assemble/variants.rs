//! The variants, folded.

use crate::data::{MoreVariants, PageVariant, PageVariants};
use crate::fold::fold;
use crate::name_table::NameTable;
use crate::subject::Subject;
use iotrail_dfg::result::{END, START, Variant};

/// Case names that a variant lists in the page.
const CASES: usize = 20;

pub(super) fn variants(subject: &Subject<'_>, names: &mut NameTable) -> PageVariants {
    let limits = &subject.options.limits;
    let (listed, rest) = subject.dfg.variants.split_at(limits.variants.min(subject.dfg.variants.len()));
    let more = rest.iter().fold(MoreVariants::default(), |more, variant| MoreVariants {
        variants: more.variants + 1,
        cases: more.cases + variant.count,
    });
    let list = listed.iter().map(|variant| page_variant(variant, limits.variant_tokens, names)).collect();
    PageVariants { list, more }
}

fn page_variant(variant: &Variant, limit: usize, names: &mut NameTable) -> PageVariant {
    let trace = variant.trace.iter().filter(|name| ![START, END].contains(&&***name));
    let mut tokens = fold(&trace.map(|name| names.id(name)).collect::<Vec<_>>());
    let cut = tokens.len() > limit;
    tokens.truncate(limit);
    PageVariant {
        c: variant.count,
        l: variant.length,
        x: variant.truncated || cut,
        t: tokens,
        k: variant.cases.iter().take(CASES).map(|case| names.id(case)).collect(),
    }
}
