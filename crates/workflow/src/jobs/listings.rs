//! Who lists a directory without any use for what is in it.

use super::hidden::Hidden;
use super::programs::Programs;
use super::steps::{JobAction, Step};
use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};
use iotrail_model::{CaseId, Pid};
use iotrail_query::ProcessTable;

/// Steps in which Python looks for a module: it lists a directory of its path and goes on to one of the system.
pub(crate) fn imports(
    steps: &[Step],
    processes: &ProcessTable,
    programs: &Programs,
    hidden: &Hidden,
) -> HashSet<usize, RandomState> {
    let mut found = HashSet::default();
    let mut open: HashMap<(CaseId, Pid), Vec<usize>, RandomState> = HashMap::default();
    for (number, step) in steps.iter().enumerate() {
        let key = (step.case, step.pid);
        if step.action == JobAction::List {
            let is_python = programs.of_step[number].is_some_and(|program| {
                let exe = programs.image(programs.get(program), processes).exe.as_deref().unwrap_or_default();
                exe.rsplit('/').next().is_some_and(|name| name.starts_with("python"))
            });
            if is_python {
                open.entry(key).or_default().push(number);
            }
            continue;
        }
        let by_name = matches!(
            step.action,
            JobAction::Open(_) | JobAction::Look | JobAction::Stat | JobAction::Missing | JobAction::Tried
        );
        if let (true, Some(path)) = (by_name, step.path.get())
            && let Some(listed) = open.remove(&key)
            && hidden.is_of_system(path)
        {
            found.extend(listed);
        }
    }
    found
}
