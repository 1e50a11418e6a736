//! A process starts a short program for each item of something.

use super::Rule;
use super::habit::{Context, First, ProcessHabit, Saved, Seen, Tally, part_of};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::calls::CallKind;
use iotrail_query::ProcessId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// From so many processes of one program on it is a habit.
const MANY: usize = 50;
/// What lives no longer is short, in ns.
const SHORT: u64 = 50_000_000;

#[derive(Default)]
pub(crate) struct ProcessStorm {
    /// The first process that each one made.
    starts: HashMap<ProcessId, First, RandomState>,
}

impl Rule for ProcessStorm {
    fn see(&mut self, call: &Seen) {
        let makes = matches!(call.kind, CallKind::Spawn | CallKind::Vfork) && call.is_done() && call.selected;
        if let Some(process) = call.process.filter(|_| makes) {
            self.starts.entry(process).or_insert_with(|| call.first());
        }
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        let mut storms: BTreeMap<(ProcessId, &str), Vec<Saved>> = BTreeMap::new();
        for (index, process) in log.process_table.all().iter().enumerate() {
            let child = ProcessId(index as u32);
            if let (Some(parent), Some(lived)) = (process.parent, log.lived(child)) {
                storms.entry((parent, log.program(child))).or_default().push(lived);
            }
        }
        let many = storms.into_iter().filter(|(_, lived)| lived.len() >= MANY);
        many.filter_map(|((parent, program), lived)| self.storm(parent, program, &lived)).collect()
    }
}

impl ProcessStorm {
    fn storm(&self, parent: ProcessId, program: &str, lived: &[Saved]) -> Option<ProcessHabit> {
        let first = *self.starts.get(&parent)?;
        let mut times: Vec<u64> = lived.iter().filter_map(|lived| lived.time).collect();
        times.sort_unstable();
        let (shortest, median) = (*times.first()?, times[(times.len() - 1) / 2]);
        let number = lived.len() as u64;
        // The shortest one did next to nothing: so much it takes to start and end one.
        let time = shortest.saturating_mul(number - 1);
        let on_path: u64 = lived.iter().map(|lived| lived.on_path).fold(0, u64::saturating_add);
        let on_path = part_of(time, on_path, times.iter().copied().fold(0, u64::saturating_add));
        let saved = Saved { calls: 0, timed: 0, time: Some(time), on_path };
        (median <= SHORT).then(|| ProcessHabit {
            rule: "process-storm",
            file: Arc::from(program),
            tally: Tally { first, calls: number, saved, amount: number },
            places: Vec::new(),
            fix: "start it once for all items: `xargs` or `find -exec … +` with many names at a time, one awk, sed or jq for the whole file; shell: built-in words instead of programs (`${name##*/}` for basename, `$((…))` for expr, `[[ … ]]`, `read`, printf); Python: a function instead of subprocess.run",
            assumes: "the items do not need a process each",
        })
    }
}
