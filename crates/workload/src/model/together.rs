//! Whether all ranks make the same calls together, in one order.

use super::{Action, Mode, Model, RequestKind, synthesise};
use std::fmt;
use std::ops::ControlFlow;

/// What all ranks do together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Common {
    Barrier,
    Opens(usize, u64, Mode),
    Request(usize, RequestKind),
    Closes(usize),
}

/// Two ranks that do not make the same call together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Apart {
    /// Which of the calls that all ranks make together, from 1.
    number: usize,
    first: String,
    rank: u32,
    other: String,
}

impl fmt::Display for Apart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, first, rank, other } = self;
        write!(
            f,
            "of the calls that all ranks make together, rank 0 {first} as number {number}, rank {rank} {other}"
        )
    }
}

impl Model {
    /// The first of so many ranks that does not make the calls together that rank 0 does; NULL if all do.
    #[must_use]
    pub fn apart(&self, ranks: u32, seed: u64) -> Option<Apart> {
        let first = self.common((0, ranks), seed);
        (1..ranks).find_map(|rank| {
            let own = self.common((rank, ranks), seed);
            let number = (0..first.len().max(own.len())).find(|at| first.get(*at) != own.get(*at))?;
            let words =
                |all: &[Common]| all.get(number).map_or("ends".to_owned(), |common| self.words(*common));
            Some(Apart { number: number + 1, first: words(&first), rank, other: words(&own) })
        })
    }

    fn common(&self, rank: (u32, u32), seed: u64) -> Vec<Common> {
        let all = self.group_of_all();
        let mut found = Vec::new();
        let ended = synthesise(self, rank, seed, &mut |step| {
            let (file, _) = step.of.unwrap_or_default();
            let met = self.meets_at(&step).is_some();
            // The barrier before such a call is a part of it.
            if met {
                found.pop();
            }
            found.extend(match step.action {
                Action::Barrier(group) if Some(group) == all => Some(Common::Barrier),
                Action::Open { file, number, mode } if met => Some(Common::Opens(file, number, mode)),
                Action::Transfer { kind, .. } | Action::Request(kind) if met => {
                    Some(Common::Request(file, kind))
                }
                Action::Close if met => Some(Common::Closes(file)),
                _ => None,
            });
            ControlFlow::<()>::Continue(())
        });
        debug_assert_eq!(ended, ControlFlow::Continue(()));
        found
    }

    fn words(&self, common: Common) -> String {
        let name = |file: usize| self.files.get(file).map_or("", |file| file.name.as_str());
        match common {
            Common::Barrier => "waits in a barrier".to_owned(),
            Common::Opens(file, _, mode) => format!("opens `{}` ({mode})", name(file)),
            Common::Request(file, kind) => format!("makes a {} of `{}`", kind.word(), name(file)),
            Common::Closes(file) => format!("closes `{}`", name(file)),
        }
    }
}
