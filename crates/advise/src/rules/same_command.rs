//! The same command runs again, and nothing that it reads was seen to change.

use super::Rule;
use super::habit::{Context, First, ProcessHabit, Saved, Seen, Tally, is_of_system};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::calls::{CallKind, Transfer};
use iotrail_model::{FileId, PathId};
use iotrail_query::ProcessId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// From so many runs on it is a habit.
const MANY: usize = 5;

#[derive(Default)]
pub(crate) struct SameCommand {
    /// When each file was changed last.
    changed: HashMap<FileId, i64, RandomState>,
    runs: HashMap<ProcessId, Uses, RandomState>,
}

/// What a process did.
struct Uses {
    first: First,
    /// The files that it read or mapped, by their names then.
    read: HashMap<FileId, Option<PathId>, RandomState>,
    /// Whether it changed files, took input from somewhere else, waited for a time, or made processes.
    does_more: bool,
    /// Whether the user asked about all of its calls.
    is_selected: bool,
}

impl Rule for SameCommand {
    fn see(&mut self, call: &Seen) {
        if !call.is_done() {
            return;
        }
        // To write to what is no file, or to empty it (`>/dev/null`), changes none.
        let is_output = call.transfer == Transfer::Write || call.opened.truncates();
        let changes = call.changes() && (call.file.is_some() || !is_output)
            || matches!(call.kind, CallKind::Rename | CallKind::Link | CallKind::Unlink);
        if let Some(file) = call.file.filter(|_| changes) {
            let last = self.changed.entry(file).or_insert(i64::MIN);
            *last = call.end().max(*last);
        }
        let Some(process) = call.process else { return };
        let uses = self.runs.entry(process).or_insert_with(|| Uses {
            first: call.first(),
            read: HashMap::default(),
            does_more: false,
            is_selected: true,
        });
        uses.is_selected &= call.selected;
        let reads = call.transfer == Transfer::Read;
        uses.does_more |= changes && call.kind != CallKind::DeviceControl
            || matches!(call.kind, CallKind::Sleep | CallKind::Spawn | CallKind::Vfork)
            || reads && call.file.is_none();
        if let Some(file) = call.file.filter(|_| reads || call.kind == CallKind::Map) {
            uses.read.insert(file, call.path);
        }
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        let mut commands: BTreeMap<(&str, &str), Vec<ProcessId>> = BTreeMap::new();
        for (index, _) in log.process_table.all().iter().enumerate() {
            let process = ProcessId(index as u32);
            let image = log.process_table.last_image(process);
            let words = image.cmdline.as_deref().filter(|_| image.cmdline_cut != Some(true));
            if let (Some(words), Some(directory)) = (words, image.cwd.as_deref()) {
                commands.entry((words, directory)).or_default().push(process);
            }
        }
        commands.values_mut().for_each(|processes| {
            processes.retain(|process| self.runs.get(process).is_none_or(|uses| uses.is_selected));
        });
        let many = commands.into_values().filter(|processes| processes.len() >= MANY);
        many.filter_map(|processes| self.command(log, &processes)).collect()
    }
}

impl SameCommand {
    fn command(&self, log: &Context, processes: &[ProcessId]) -> Option<ProcessHabit> {
        let uses: Vec<&Uses> =
            processes.iter().map(|process| self.runs.get(process)).collect::<Option<_>>()?;
        let first = uses.first()?.first;
        let began = log.process_table.get(*processes.first()?).start?.0;
        let is_own = |path: &Option<PathId>| !is_of_system(&log.text(*path));
        let same = |uses: &&Uses| !uses.does_more && uses.read.values().any(is_own);
        let unchanged = |file: &FileId| self.changed.get(file).is_none_or(|changed| *changed < began);
        if !uses.iter().all(same) || !uses.iter().all(|uses| uses.read.keys().all(unchanged)) {
            return None;
        }
        let mut lived = Saved::default();
        for process in &processes[1..] {
            lived.join(log.lived(*process)?);
        }
        Some(ProcessHabit {
            rule: "same-command",
            file: Arc::from(shown(log, processes[0])),
            tally: Tally {
                first,
                calls: processes.len() as u64,
                saved: Saved { calls: 0, ..lived },
                amount: processes.len() as u64,
            },
            places: Vec::new(),
            fix: "run it once and keep what it prints (shell: `x=$(command)` before the loop; Python: functools.cache around the function that runs it; make: a variable with `:=`)",
            assumes: "what it prints depends on these files and its arguments alone, not on time, environment or chance",
        })
    }
}

/// The command line, not too long.
fn shown(log: &Context, process: ProcessId) -> String {
    let line = log.process_table.last_image(process).cmdline.as_deref().unwrap_or("?");
    let line = line.trim_end_matches('\0').replace('\0', " ");
    match line.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
