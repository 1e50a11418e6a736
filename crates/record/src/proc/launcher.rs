//! Who started this recorder, and as which of how many: the rank and the run, from the environment that launchers of MPI
//! programs give to what they start.
//!
//! Several launchers may have left their marks: Open MPI's `mpirun` within a Slurm job starts its daemons with `srun`, so
//! that `SLURM_PROCID` is that of a daemon. Hence the MPI library's own names come first, the batch system's last. A
//! batch script itself is no rank: Slurm gives it `SLURM_PROCID=0`, but no step.

use super::read;
use iotrail_model::Tid;

/// The longest text that is taken over from the environment.
const MAX_TEXT: usize = 256;

/// What a launcher told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launcher {
    /// Its name: `openmpi`, `hydra`, `slurm`, ...
    pub name: Option<&'static str>,
    /// Rank of the program.
    pub rank: Option<u32>,
    /// Number of ranks.
    pub world: Option<u32>,
    /// Rank among those on this host.
    pub local_rank: Option<u32>,
    /// What all ranks of this run, and no others, have in common.
    pub run: Option<String>,
    /// Name that the user gave to the batch job.
    pub job_name: Option<String>,
}

/// The names of one launcher's variables.
struct Marks {
    name: &'static str,
    rank: &'static str,
    world: &'static [&'static str],
    local_rank: &'static [&'static str],
    /// Together they name the run; those that are not there are left out.
    run: &'static [&'static str],
    /// It must be there too.
    also: Option<&'static str>,
}

const LAUNCHERS: [Marks; 9] = [
    Marks {
        name: "jsrun",
        rank: "JSM_NAMESPACE_RANK",
        world: &["JSM_NAMESPACE_SIZE"],
        local_rank: &["JSM_NAMESPACE_LOCAL_RANK"],
        run: &["LSB_JOBID", "JSM_NAMESPACE_ID"],
        also: None,
    },
    Marks {
        name: "openmpi",
        rank: "OMPI_COMM_WORLD_RANK",
        world: &["OMPI_COMM_WORLD_SIZE"],
        local_rank: &["OMPI_COMM_WORLD_LOCAL_RANK"],
        run: &["PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"],
        also: None,
    },
    Marks {
        name: "mvapich",
        rank: "MV2_COMM_WORLD_RANK",
        world: &["MV2_COMM_WORLD_SIZE"],
        local_rank: &["MV2_COMM_WORLD_LOCAL_RANK"],
        run: &["MPIRUN_ID", "MPIRUN_HOST"],
        also: None,
    },
    Marks {
        name: "pals",
        rank: "PALS_RANKID",
        world: &["PMI_SIZE"],
        local_rank: &["PALS_LOCAL_RANKID", "PMI_LOCAL_RANK"],
        run: &["PALS_APID"],
        also: None,
    },
    Marks {
        name: "flux",
        rank: "FLUX_TASK_RANK",
        world: &["FLUX_JOB_SIZE"],
        local_rank: &["FLUX_TASK_LOCAL_ID"],
        run: &["FLUX_JOB_ID"],
        also: None,
    },
    Marks {
        name: "hydra",
        rank: "PMI_RANK",
        world: &["PMI_SIZE"],
        local_rank: &["MPI_LOCALRANKID", "PMI_LOCAL_RANK"],
        run: &["SLURM_JOB_ID", "SLURM_STEP_ID"],
        also: None,
    },
    Marks {
        name: "pmix",
        rank: "PMIX_RANK",
        world: &["SLURM_NTASKS"],
        local_rank: &["SLURM_LOCALID"],
        run: &["PMIX_NAMESPACE"],
        also: Some("PMIX_NAMESPACE"),
    },
    Marks {
        name: "alps",
        rank: "ALPS_APP_PE",
        world: &[],
        local_rank: &[],
        run: &["ALPS_APP_ID"],
        also: None,
    },
    Marks {
        name: "slurm",
        rank: "SLURM_PROCID",
        world: &["SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"],
        local_rank: &["SLURM_LOCALID"],
        run: &["SLURM_JOB_ID", "SLURM_STEP_ID"],
        also: Some("SLURM_STEP_ID"),
    },
];

const JOB_NAMES: [&str; 4] = ["SLURM_JOB_NAME", "PBS_JOBNAME", "LSB_JOBNAME", "FLUX_JOB_NAME"];

impl Launcher {
    /// What the launcher of this process told it.
    #[must_use]
    pub fn detect() -> Self {
        let parent = rustix::process::getppid().map(|pid| Tid(pid.as_raw_nonzero().get().unsigned_abs()));
        let mut found = Self::from_variables(|name| std::env::var(name).ok());
        if found.name == Some("hydra") {
            let cmdline = parent.and_then(|parent| read::small(parent, "cmdline"));
            found.run = cmdline.as_deref().and_then(control_port).or(found.run);
        }
        found
    }

    /// What the variables tell that `lookup` knows.
    fn from_variables(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let text = |name: &str| lookup(name).filter(|text| !text.is_empty() && text.len() <= MAX_TEXT);
        let number = |name: &str| text(name).and_then(|digits| digits.parse::<u32>().ok());
        let first = |names: &[&str]| names.iter().find_map(|name| number(name));
        let job_name = JOB_NAMES.iter().find_map(|name| text(name));
        let here = |marks: &&Marks| {
            number(marks.rank).is_some() && marks.also.is_none_or(|name| text(name).is_some())
        };
        let Some(marks) = LAUNCHERS.iter().find(here) else {
            return Self { job_name, ..Self::default() };
        };
        let run: Vec<String> = marks.run.iter().filter_map(|name| text(name)).collect();
        Self {
            name: Some(marks.name),
            rank: number(marks.rank),
            world: first(marks.world),
            local_rank: first(marks.local_rank),
            run: (!run.is_empty()).then(|| format!("{}:{}", marks.name, run.join("."))),
            job_name,
        }
    }
}

/// What names a run of Hydra (MPICH, Intel MPI), which gives its processes no identifier: the address of `mpiexec`, with
/// which the proxy that started them was started (`hydra_pmi_proxy --control-port HOST:PORT`), the same on all hosts.
fn control_port(cmdline: &[u8]) -> Option<String> {
    let mut words = cmdline.split(|byte| *byte == 0);
    words.next().filter(|name| name.windows(5).any(|word| word == b"hydra"))?;
    words.find(|word| *word == b"--control-port")?;
    let port = std::str::from_utf8(words.next()?).ok()?;
    Some(format!("hydra:{port}")).filter(|_| !port.is_empty() && port.len() <= MAX_TEXT)
}

/// The name of this host, without its domain.
#[must_use]
pub fn host() -> Option<String> {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let short = name.split('.').next().unwrap_or(&name);
    Some(short.to_owned()).filter(|name| !name.is_empty() && name != "(none)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn launcher(variables: &[(&str, &str)]) -> Launcher {
        Launcher::from_variables(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn without_a_launcher_there_is_no_rank() {
        assert_eq!(launcher(&[]), Launcher::default());
        let script = [("SLURM_JOB_ID", "7"), ("SLURM_PROCID", "0"), ("SLURM_JOB_NAME", "night")];
        assert_eq!(launcher(&script), Launcher { job_name: Some("night".into()), ..Launcher::default() });
    }

    #[test]
    fn the_mpi_library_speaks_before_the_batch_system_that_started_its_daemons() {
        let marks = [
            ("SLURM_PROCID", "1"),
            ("SLURM_STEP_ID", "2"),
            ("SLURM_JOB_ID", "7"),
            ("OMPI_COMM_WORLD_RANK", "12"),
            ("OMPI_COMM_WORLD_SIZE", "16"),
            ("OMPI_COMM_WORLD_LOCAL_RANK", "4"),
            ("PMIX_NAMESPACE", "prterun-n1-9@1"),
            ("PMIX_RANK", "12"),
        ];
        let found = launcher(&marks);
        assert_eq!(
            (found.name, found.rank, found.world, found.local_rank),
            (Some("openmpi"), Some(12), Some(16), Some(4))
        );
        assert_eq!(found.run.as_deref(), Some("openmpi:prterun-n1-9@1"));
        assert_eq!(launcher(&marks[..3]).run.as_deref(), Some("slurm:7.2"));
        assert_eq!(launcher(&marks[..3]).rank, Some(1));
    }

    #[test]
    fn every_launcher_is_told_by_its_rank() {
        for marks in &LAUNCHERS {
            let mut variables = vec![(marks.rank, "3")];
            variables.extend(marks.run.iter().map(|name| (*name, "r")));
            variables.extend(marks.also.map(|name| (name, "r")));
            let found = launcher(&variables);
            assert_eq!((found.name, found.rank), (Some(marks.name), Some(3)));
            assert!(found.run.is_some_and(|run| run.starts_with(marks.name)));
        }
    }

    #[test]
    fn nonsense_is_no_rank() {
        for rank in ["", "-1", "x", "4294967296", "1 "] {
            assert_eq!(launcher(&[("PMI_RANK", rank)]).name, None, "{rank:?}");
        }
        let long = "x".repeat(MAX_TEXT + 1);
        assert_eq!(launcher(&[("FLUX_TASK_RANK", "1"), ("FLUX_JOB_ID", &long)]).run, None);
    }

    #[test]
    fn hydra_is_named_by_the_port_of_its_mpiexec() {
        let cmdline = b"/usr/bin/hydra_pmi_proxy\0--control-port\0n1:34567\0--rmk\0user\0";
        assert_eq!(control_port(cmdline).as_deref(), Some("hydra:n1:34567"));
        assert_eq!(control_port(b"sh\0--control-port\0n1:1\0"), None);
        assert_eq!(control_port(b"hydra_pmi_proxy\0--control-port"), None);
    }

    proptest! {
        #[test]
        fn no_command_line_makes_it_panic(cmdline in prop::collection::vec(any::<u8>(), 0..100)) {
            control_port(&cmdline);
            control_port(&[b"hydra\0--control-port\0", cmdline.as_slice()].concat());
        }
    }
}
