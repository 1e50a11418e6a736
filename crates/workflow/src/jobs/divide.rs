//! Which program is a manager, and which job each other program belongs to.

use super::JobOptions;
use super::environment::differs;
use super::programs::{ProgramId, Programs};
use iotrail_query::ProcessTable;
use std::collections::BTreeSet;

/// Programs that start other programs and do no work themselves.
const MANAGERS: [&str; 25] = [
    "make",
    "gmake",
    "ninja",
    "snakemake",
    "nextflow",
    "bash",
    "sh",
    "dash",
    "ash",
    "busybox",
    "zsh",
    "ksh",
    "mpirun",
    "mpiexec",
    "mpiexec.hydra",
    "hydra_pmi_proxy",
    "orterun",
    "prterun",
    "srun",
    "xargs",
    "parallel",
    "time",
    "nice",
    "timeout",
    "env",
];

const SHELLS: [&str; 8] = ["bash", "sh", "dash", "ash", "busybox", "zsh", "ksh", "mksh"];

/// Workflow systems, which write files for themselves: their jobs are told apart whatever they do.
const SYSTEMS: [&str; 6] = ["snakemake", "nextflow", "cwltool", "cwl-runner", "toil-cwl-runner", "luigi"];

/// The programs as managers and jobs.
#[derive(Debug, Default)]
pub(crate) struct Division {
    /// Whether each program is a manager.
    pub(crate) manager: Vec<bool>,
    /// Whether it stays one though it does work itself.
    pub(crate) forced: Vec<bool>,
    /// Whether it is a workflow system.
    pub(crate) system: Vec<bool>,
    /// The first program of each job.
    pub(crate) heads: Vec<ProgramId>,
    /// For each program its job, an index into `heads`; `None` for managers.
    pub(crate) of_program: Vec<Option<u32>>,
}

/// Divides the programs; those in `whole` are jobs, whatever they started.
pub(crate) fn divide(
    processes: &ProcessTable,
    programs: &Programs,
    options: &JobOptions,
    whole: &BTreeSet<ProgramId>,
) -> Division {
    let count = programs.all.len();
    let mut children = vec![0_usize; count];
    let executed = programs.all.iter().filter(|program| !program.is_redone());
    for parent in executed.filter_map(|program| program.parent) {
        children[parent.index()] += 1;
    }
    let mut division = Division {
        manager: vec![false; count],
        forced: vec![false; count],
        system: vec![false; count],
        heads: Vec::new(),
        of_program: vec![None; count],
    };
    let launched = !whole.iter().any(|program| programs.is_aside(*program));
    let leads = |program: ProgramId| launched && programs.is_aside(program);
    for (index, program) in programs.all.iter().enumerate() {
        let id = ProgramId(index as u32);
        if leads(id) {
            division.manager[index] = true;
            continue;
        }
        if let Some(parent) = program.parent.filter(|parent| !division.manager[parent.index()]) {
            division.of_program[index] = division.of_program[parent.index()];
            continue;
        }
        let words = words(processes, programs, id);
        let asked = options.managers.as_ref().is_some_and(|regex| regex.is_match(&words));
        let only_child = program.parent.is_some_and(|parent| children[parent.index()] == 1);
        let is_manager = children[index] > 0
            && !whole.contains(&id)
            && match program.parent {
                None => true,
                Some(parent) if leads(parent) => true,
                Some(_) if options.managers.is_some() => asked,
                Some(parent) => {
                    let as_is = || {
                        !differs(
                            programs.image(program, processes),
                            programs.image(programs.get(parent), processes),
                        )
                    };
                    only_child && is_known(&words, &MANAGERS) && as_is()
                }
            };
        if is_manager {
            division.manager[index] = true;
            division.system[index] = is_known(&words, &SYSTEMS);
            division.forced[index] = asked || division.system[index];
        } else {
            division.of_program[index] = Some(division.heads.len() as u32);
            division.heads.push(id);
        }
    }
    division
}

/// The command line with blanks between the arguments.
fn words(processes: &ProcessTable, programs: &Programs, id: ProgramId) -> String {
    let image = programs.image(programs.get(id), processes);
    image.cmdline.as_deref().or(image.exe.as_deref()).unwrap_or_default().replace('\0', " ")
}

/// Whether a command line is that of a shell.
pub(crate) fn is_shell(words: &str) -> bool {
    is_known(words, &SHELLS)
}

fn is_known(words: &str, known: &[&str]) -> bool {
    let mut parts = words.split(' ').map(|word| word.rsplit('/').next().unwrap_or(word));
    let first = parts.next().unwrap_or_default();
    let is_known = |word: &str| known.contains(&word.trim_start_matches('-'));
    is_known(first)
        || (first.starts_with("python") || first.starts_with("java") || known == SYSTEMS)
            && parts.next().is_some_and(is_known)
}
