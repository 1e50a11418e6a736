//! The lengths that truncates give files.

use crate::sessions::Execution;
use iotrail_workload::{ModelFile, ModelSession, OffsetLaw, Stride};
use std::collections::BTreeSet;

/// The length that the truncates of all executions give the file, if that is one.
pub(crate) fn of_all(executions: &[(u32, u64, &Execution)]) -> Option<Stride> {
    let mut all = executions.iter().map(|(.., execution)| execution.length.get());
    let first = all.next()??;
    let bytes = i64::try_from(first).ok()?;
    all.all(|other| other == Some(first)).then_some(Stride::fixed(bytes))
}

/// The length of a file of the parts of all ranks grows with their number.
pub(crate) fn grow(file: &mut ModelFile, ranks: u32) {
    let part = |law: &OffsetLaw| match law {
        OffsetLaw::Affine { rank, .. } | OffsetLaw::Drawn { rank, .. } => vec![*rank],
        OffsetLaw::Runs(runs) => runs.iter().map(|run| run.rank).collect(),
        OffsetLaw::Sequential => Vec::new(),
    };
    let laws = file.sessions.iter().flat_map(ModelSession::laws);
    let parts: BTreeSet<u64> = laws.flat_map(part).filter(|rank| *rank > 0).collect();
    for length in file.sessions.iter_mut().filter_map(|session| session.length.as_mut()).filter(|_| ranks > 1)
    {
        let of_all = |part: &&u64| part.checked_mul(u64::from(ranks)) == Some(length.bytes.unsigned_abs());
        if let Some(part) = parts.iter().find(of_all) {
            *length = Stride { bytes: *part as i64, by_ranks: true };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_workload::Model;

    #[test]
    fn a_file_of_the_parts_of_all_ranks_is_longer_with_more_ranks() {
        let text = r#"
iotrail_workload = 1
[[group]]
name = "all"
ranks = "0.."
[[file]]
name = "f"
class = "shared"
  [[file.session]]
  name = "s"
  mode = "wo create"
  requests = { truncate = 1, write = 1 }
  size = "1 KiB"
  offset = { start = "0 B", rank = "1 KiB", step = "0 B" }
  length = "LENGTH"
[program]
steps = [{ session = "f/s" }]
"#;
        let grown = |length: &str| {
            let mut model = Model::parse(&text.replace("LENGTH", length)).unwrap();
            grow(&mut model.files[0], 3);
            model.files[0].sessions[0].length
        };
        assert_eq!(grown("3 KiB"), Some(Stride { bytes: 1024, by_ranks: true }));
        assert_eq!(grown("4 KiB"), Some(Stride::fixed(4096)));
    }
}
