//! Which process is a manager, and which job each other process belongs to.

use super::JobOptions;
use super::launch::Launches;
use iotrail_model::Process;
use iotrail_query::{LifeId, Lives};

/// Programs that start other programs and do no work themselves.
const MANAGERS: [&str; 23] = [
    "make",
    "gmake",
    "ninja",
    "snakemake",
    "nextflow",
    "bash",
    "sh",
    "dash",
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

/// The processes as managers and jobs.
#[derive(Debug, Default)]
pub(crate) struct Division {
    /// The first process of each job.
    pub(crate) heads: Vec<LifeId>,
    /// For each process its job, an index into `heads`; `None` for managers.
    pub(crate) of_life: Vec<Option<u32>>,
}

/// The image with which a process was started, its first executed one.
pub(crate) fn command_image<'a>(lives: &'a Lives, launches: &Launches, life: LifeId) -> Option<&'a Process> {
    let exec = launches.get(life).exec?;
    let images = lives.images(life);
    images.iter().find(|image| image.start.is_some_and(|start| start >= exec)).or_else(|| images.last())
}

/// Divides the processes.
pub(crate) fn divide(lives: &Lives, launches: &Launches, options: &JobOptions) -> Division {
    let count = lives.all().len();
    let mut children: Vec<Vec<LifeId>> = vec![Vec::new(); count];
    for (place, life) in lives.all().iter().enumerate() {
        if let Some(parent) = life.parent {
            children[parent.index()].push(LifeId(place as u32));
        }
    }
    let executed = |life: LifeId| launches.get(life).exec.is_some();
    // Parents come before their children, so one pass backwards knows of all descendants.
    let mut leads_to_exec = vec![false; count];
    for place in (0..count).rev() {
        leads_to_exec[place] =
            children[place].iter().any(|&child| executed(child) || leads_to_exec[child.index()]);
    }
    let mut division = Division { heads: Vec::new(), of_life: vec![None; count] };
    let mut manager = vec![false; count];
    for (place, life) in lives.all().iter().enumerate() {
        let id = LifeId(place as u32);
        let below_manager = life.parent.is_none_or(|parent| manager[parent.index()]);
        if !below_manager {
            division.of_life[place] = life.parent.and_then(|parent| division.of_life[parent.index()]);
            continue;
        }
        let only_child = life.parent.is_some_and(|parent| children[parent.index()].len() == 1);
        manager[place] = match life.parent {
            None => leads_to_exec[place],
            Some(_) if !executed(id) => true,
            Some(_) => {
                leads_to_exec[place]
                    && match &options.managers {
                        Some(regex) => regex.is_match(&words(lives, launches, id)),
                        None => only_child && is_known_manager(&words(lives, launches, id)),
                    }
            }
        };
        if !manager[place] {
            division.of_life[place] = Some(division.heads.len() as u32);
            division.heads.push(id);
        }
    }
    division
}

/// The command line with blanks between the arguments.
fn words(lives: &Lives, launches: &Launches, life: LifeId) -> String {
    let image = command_image(lives, launches, life).unwrap_or_else(|| lives.last_image(life));
    image.cmdline.as_deref().or(image.exe.as_deref()).unwrap_or_default().replace('\0', " ")
}

fn is_known_manager(words: &str) -> bool {
    let mut parts = words.split(' ').map(|word| word.rsplit('/').next().unwrap_or(word));
    let first = parts.next().unwrap_or_default();
    let is_manager = |word: &str| MANAGERS.contains(&word.trim_start_matches('-'));
    is_manager(first) || (first.starts_with("python") && parts.next().is_some_and(is_manager))
}
