//! Launchers: what the first process was before it became the program that does the work.
//!
//! The `python3` of pyenv, conda or a module system is a script that asks a few programs which version is meant and then executes
//! it in its own place. If neither it nor these programs changed any file, the one that it became is the manager.

use super::divide::is_shell;
use super::environment::differs;
use super::hidden::Hidden;
use super::programs::{ProgramId, Programs};
use super::steps::{JobAction, Step};
use iotrail_query::ProcessTable;

/// For each program whether it only led to the one that the first process became.
pub(crate) fn launchers(
    steps: &[Step],
    processes: &ProcessTable,
    programs: &Programs,
    hidden: &Hidden,
) -> Vec<bool> {
    let mut aside = vec![false; programs.all.len()];
    for (index, first) in programs.all.iter().enumerate().filter(|(_, program)| program.parent.is_none()) {
        let root = ProgramId(index as u32);
        let Some(main) = programs.last[first.process.index()].filter(|main| *main != root) else { continue };
        let starts_others = programs.all.iter().any(|program| program.parent == Some(main));
        let image = programs.image(programs.get(main), processes);
        // A script that prepares another one is a part of the workflow.
        let prepares = is_shell(&image.cmdline.as_deref().unwrap_or_default().replace('\0', " "))
            && differs(image, programs.image(first, processes));
        if starts_others && !prepares {
            let led = led(programs, root, main);
            let works = |(number, step): (usize, &Step)| {
                programs.of_step[number].is_some_and(|who| led[who.index()])
                    && changes_files(step, programs, hidden)
            };
            if !steps.iter().enumerate().any(works) {
                aside.iter_mut().zip(led).for_each(|(aside, led)| *aside |= led);
            }
        }
    }
    aside
}

/// Whether each program is `root` or below it, but neither `main` nor below that.
fn led(programs: &Programs, root: ProgramId, main: ProgramId) -> Vec<bool> {
    let mut led = vec![false; programs.all.len()];
    for (index, program) in programs.all.iter().enumerate() {
        let id = ProgramId(index as u32);
        led[index] = id == root || id != main && program.parent.is_some_and(|parent| led[parent.index()]);
    }
    led
}

fn changes_files(step: &Step, programs: &Programs, hidden: &Hidden) -> bool {
    let visible = |path: Option<_>| path.is_some_and(|path| !hidden.hides(path));
    let opened = |path: Option<_>| path.is_some_and(|path| programs.opened.contains(&path));
    let (path, path2) = (step.path.get(), step.path2.get());
    match step.action {
        JobAction::Write => step.bytes > 0 && visible(path) && opened(path),
        JobAction::Copy => step.bytes > 0 && visible(path2) && opened(path2),
        JobAction::Open(mode) => mode.write && (mode.create || mode.truncate) && visible(path),
        JobAction::Change
        | JobAction::Mode(_)
        | JobAction::Times
        | JobAction::Remove
        | JobAction::Rename
        | JobAction::Link
        | JobAction::Symlink
        | JobAction::Fifo => visible(path) || visible(path2),
        JobAction::MakeDirectory(_) | JobAction::RemoveDirectory => {
            path.is_some_and(|path| !hidden.is_of_system(path))
        }
        JobAction::Accept => true,
        _ => false,
    }
}
