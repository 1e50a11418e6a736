//! Which variables of a recorded process's environment are kept.
//!
//! An environment holds passwords and tokens, so it is never kept whole: only names that say where in a batch job, MPI
//! run or workflow a process stood, one by one (`SLURM_*` would take `SLURM_JWT` along, `PBS_*` the job's cookie), and
//! names that the user asks for.

use iotrail_model::ENVIRONMENT_DIGEST;
use std::collections::hash_map::{DefaultHasher, RandomState};
use std::hash::{BuildHasher, Hasher};
use std::sync::OnceLock;

/// The longest value that is kept, in bytes.
const MAX_VALUE: usize = 1024;
/// The end of a value that was longer.
const CUT: &[u8] = "…".as_bytes();
/// How many variables of a process are kept.
const MAX_VARIABLES: usize = 256;

/// Names by which launchers, batch systems and workflow systems tell a process where it stands.
const DEFAULT: &[&str] = &[
    // Slurm
    "SLURM_JOB_ID",
    "SLURM_JOB_NAME",
    "SLURM_STEP_ID",
    "SLURM_PROCID",
    "SLURM_LOCALID",
    "SLURM_NODEID",
    "SLURM_NTASKS",
    "SLURM_JOB_NUM_NODES",
    "SLURM_ARRAY_JOB_ID",
    "SLURM_ARRAY_TASK_ID",
    "SLURM_CLUSTER_NAME",
    "SLURM_HET_GROUP_ID",
    "SLURM_RESTART_COUNT",
    // PMI, PMIx, Open MPI, MPICH, Intel MPI, MVAPICH
    "PMI_RANK",
    "PMI_SIZE",
    "PMI_LOCAL_RANK",
    "PMIX_RANK",
    "PMIX_NAMESPACE",
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "OMPI_COMM_WORLD_NODE_RANK",
    "MPI_LOCALRANKID",
    "MPI_LOCALNRANKS",
    "MV2_COMM_WORLD_RANK",
    "MV2_COMM_WORLD_SIZE",
    "MV2_COMM_WORLD_LOCAL_RANK",
    // PALS, ALPS, jsrun, Flux
    "PALS_APID",
    "PALS_RANKID",
    "PALS_NODEID",
    "PALS_LOCAL_RANKID",
    "ALPS_APP_ID",
    "ALPS_APP_PE",
    "JSM_NAMESPACE_ID",
    "JSM_NAMESPACE_RANK",
    "JSM_NAMESPACE_SIZE",
    "JSM_NAMESPACE_LOCAL_RANK",
    "FLUX_JOB_ID",
    "FLUX_JOB_SIZE",
    "FLUX_TASK_RANK",
    "FLUX_TASK_LOCAL_ID",
    "FLUX_JOB_CC",
    // PBS, LSF, Grid Engine, Cobalt, OAR
    "PBS_JOBID",
    "PBS_JOBNAME",
    "PBS_QUEUE",
    "PBS_ARRAYID",
    "PBS_ARRAY_INDEX",
    "PBS_ARRAY_ID",
    "PBS_TASKNUM",
    "PBS_NODENUM",
    "PBS_VNODENUM",
    "LSB_JOBID",
    "LSB_JOBINDEX",
    "LSB_JOBNAME",
    "LSB_QUEUE",
    "JOB_ID",
    "JOB_NAME",
    "SGE_TASK_ID",
    "SGE_CLUSTER_NAME",
    "PE_HOSTFILE",
    "COBALT_JOBID",
    "OAR_JOB_ID",
    // HTCondor, Pegasus
    "_CONDOR_SLOT",
    "_CONDOR_JOB_AD",
    "_CONDOR_JOB_IWD",
    "_CONDOR_SCRATCH_DIR",
    "_CONDOR_PROCNO",
    "_CONDOR_NPROCS",
    "PEGASUS_WF_UUID",
    "PEGASUS_WF_LABEL",
    "PEGASUS_DAG_JOB_ID",
    "PEGASUS_JOB_ID",
    "PEGASUS_TASK_ID",
    "PEGASUS_SITE",
    "PEGASUS_SCRATCH_DIR",
    "PEGASUS_MULTIPART_DIR",
    // Snakemake, Nextflow, CWL runners, Parsl, Galaxy, Cromwell
    "SNAKEMAKE_RULE",
    "SNAKEMAKE_JOBID",
    "SNAKEMAKE_PROFILE",
    "NXF_TASK_WORKDIR",
    "NXF_SCRATCH",
    "NXF_WORK",
    "NXF_UUID",
    "CWL_RUNTIME_CORES",
    "CWL_STEP",
    "CWL_WORKFLOW",
    "TOIL_WORKFLOW_ID",
    "TOIL_JOB_NAME",
    "PARSL_WORKER_RANK",
    "PARSL_WORKER_COUNT",
    "PARSL_WORKER_POOL_ID",
    "PARSL_WORKER_BLOCK_ID",
    "GALAXY_SLOTS",
    "_GALAXY_JOB_DIR",
    "CROMWELL_JOB_ID",
    // Build services
    "GITHUB_RUN_ID",
    "GITHUB_RUN_ATTEMPT",
    "GITHUB_JOB",
    "GITHUB_WORKFLOW",
    "CI_JOB_ID",
    "CI_JOB_NAME",
    "CI_PIPELINE_ID",
    "BUILD_ID",
    "BUILD_TAG",
    // What changes results and is no secret
    "LC_ALL",
    "LANG",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_NUMERIC",
    "TZ",
    "OMP_NUM_THREADS",
    "SOURCE_DATE_EPOCH",
];

/// Variables that shells and make change by themselves.
const OWN_BUSINESS: [&[u8]; 10] = [
    b"_",
    b"PWD",
    b"OLDPWD",
    b"SHLVL",
    b"MAKEFLAGS",
    b"MFLAGS",
    b"MAKELEVEL",
    b"MAKE_TERMOUT",
    b"MAKE_TERMERR",
    b"MAKEOVERRIDES",
];

/// The key of the digests of this recorder: nobody can find out a value by trying digests.
fn key() -> &'static RandomState {
    static KEY: OnceLock<RandomState> = OnceLock::new();
    KEY.get_or_init(RandomState::new)
}

/// Names of variables that are kept: the ones of known batch and workflow systems, and patterns of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvSelection {
    patterns: Vec<String>,
    /// Whether there is a digest of the variables that are not kept.
    digest: bool,
}

impl Default for EnvSelection {
    fn default() -> Self {
        Self { patterns: DEFAULT.iter().map(|name| (*name).to_owned()).collect(), digest: true }
    }
}

/// A word that names no variable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnvError {
    /// It gives a value.
    #[error(
        "`{word}` gives a value, but the environment is recorded and not set: name the variable only (`{name}`), or write `env {word} COMMAND`"
    )]
    Value {
        /// The value that was given.
        word: String,
        /// The part before the `=`.
        name: String,
    },
    /// It is empty.
    #[error("an empty word names no variable: give a name (`OMP_NUM_THREADS`) or a pattern (`OMP_*`)")]
    Empty,
}

impl EnvSelection {
    /// Nothing at all.
    #[must_use]
    pub fn none() -> Self {
        Self { patterns: Vec::new(), digest: false }
    }

    /// Keeps also the variables that `pattern` names; `*` stands for any characters, `?` for one.
    ///
    /// # Errors
    /// `pattern` is not a name of a variable.
    pub fn add(&mut self, pattern: &str) -> Result<(), EnvError> {
        if pattern.is_empty() {
            return Err(EnvError::Empty);
        }
        if let Some((name, _)) = pattern.split_once('=') {
            return Err(EnvError::Value { word: pattern.to_owned(), name: name.to_owned() });
        }
        self.patterns.push(pattern.to_owned());
        Ok(())
    }

    /// Whether the variable `name` is kept.
    #[must_use]
    pub fn keeps(&self, name: &[u8]) -> bool {
        self.patterns.iter().any(|pattern| matches(pattern.as_bytes(), name))
    }

    /// Chooses from an environment that comes in pieces.
    pub(crate) fn collector(&self) -> Collector<'_> {
        Collector {
            selection: self,
            entry: Vec::new(),
            hasher: key().build_hasher(),
            others: 0,
            dull: false,
            kept: Vec::new(),
            directory: None,
        }
    }
}

/// Whether `pattern` with `*` and `?` matches all of `name`. Linear but for the last `*`, to which it returns on failure.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut index, mut retry) = (0, 0, None);
    while index < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                retry = Some((at + 1, index));
                at += 1;
            }
            Some(character) if *character == b'?' || *character == name[index] => {
                at += 1;
                index += 1;
            }
            _ => {
                let Some((after, from)) = retry else { return false };
                (at, index) = (after, from + 1);
                retry = Some((after, from + 1));
            }
        }
    }
    pattern[at..].iter().all(|character| *character == b'*')
}

/// The environment as it is read: entries separated by NUL, of which at most one is held beside the chosen ones.
#[derive(Debug)]
pub(crate) struct Collector<'a> {
    selection: &'a EnvSelection,
    /// The beginning of the entry that is being read.
    entry: Vec<u8>,
    /// Whether that entry is known not to be wanted.
    dull: bool,
    /// Of the entry that is being read.
    hasher: DefaultHasher,
    /// Sum of the digests of entries that are not kept.
    others: u64,
    kept: Vec<Vec<u8>>,
    /// The value of `PWD`, if it is not kept anyway.
    directory: Option<Vec<u8>>,
}

/// No kept entry is longer: names of variables are short, and the values are bounded.
const MAX_ENTRY: usize = 2 * MAX_VALUE;

impl Collector<'_> {
    /// The next piece.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        let mut pieces = bytes.split(|byte| *byte == 0);
        if let Some(first) = pieces.next() {
            self.extend(first);
        }
        for piece in pieces {
            self.end_entry();
            self.extend(piece);
        }
    }

    fn extend(&mut self, bytes: &[u8]) {
        self.hasher.write(bytes);
        if !self.dull {
            let room = MAX_ENTRY - self.entry.len();
            self.entry.extend_from_slice(&bytes[..bytes.len().min(room)]);
            // An entry of this length without a name is nothing that anybody asked for.
            self.dull = self.entry.len() == MAX_ENTRY && !self.entry.contains(&b'=');
        }
    }

    fn end_entry(&mut self) {
        let entry = std::mem::take(&mut self.entry);
        let dull = std::mem::take(&mut self.dull);
        let digest = std::mem::replace(&mut self.hasher, key().build_hasher()).finish();
        let Some(equals) = entry.iter().position(|byte| *byte == b'=') else { return };
        let name = &entry[..=equals];
        let first = || !self.kept.iter().any(|kept| kept.starts_with(name));
        if name == b"PWD=" && !dull && self.selection.digest && !self.selection.keeps(b"PWD") {
            self.directory.get_or_insert_with(|| entry[equals + 1..].to_vec());
        }
        if dull || self.kept.len() >= MAX_VARIABLES || !self.selection.keeps(&entry[..equals]) || !first() {
            if !OWN_BUSINESS.contains(&&entry[..equals]) {
                self.others = self.others.wrapping_add(digest);
            }
            return;
        }
        let value = &entry[equals + 1..];
        let end = value.len().min(MAX_VALUE);
        let mark = if value.len() > MAX_VALUE { CUT } else { b"" };
        self.kept.push([name, &value[..end], mark].concat());
    }

    /// The chosen entries, sorted, and the digest of the others. Of variables that occur twice the first counts, as for
    /// `getenv`. `PWD` is among them if `leads` says that it is another name of the working directory.
    pub(crate) fn finish(mut self, leads: impl Fn(&[u8]) -> bool) -> Vec<Vec<u8>> {
        self.end_entry();
        if let Some(directory) = self.directory.take().filter(|directory| leads(directory)) {
            self.kept.push([b"PWD=", &*directory].concat());
        }
        if self.selection.digest {
            self.kept.push(format!("{ENVIRONMENT_DIGEST}={:016x}", self.others).into_bytes());
        }
        self.kept.sort();
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn chosen(selection: &EnvSelection, environment: &[u8], piece: usize) -> Vec<String> {
        let mut collector = selection.collector();
        environment.chunks(piece).for_each(|bytes| collector.take(bytes));
        collector
            .finish(|path| path == b"/link")
            .into_iter()
            .map(|entry| String::from_utf8(entry).unwrap())
            .collect()
    }

    #[test]
    fn only_names_of_batch_and_workflow_systems_are_kept() {
        let environment =
            b"PATH=/bin\0SLURM_JOB_ID=7\0SLURM_JWT=secret\0PBS_JOBCOOKIE=x\0PMI_RANK=3\0HOME=/root\0";
        let whole = chosen(&EnvSelection::default(), environment, environment.len());
        assert_eq!(whole[1..], ["PMI_RANK=3", "SLURM_JOB_ID=7"]);
        for piece in 1..environment.len() {
            assert_eq!(chosen(&EnvSelection::default(), environment, piece), whole);
        }
    }

    #[test]
    fn a_digest_tells_whether_the_other_variables_are_the_same() {
        let digest = |environment: &[u8]| chosen(&EnvSelection::default(), environment, 3)[0].clone();
        let plain = digest(b"A=1\0B=2\0PWD=/a\0SLURM_JOB_ID=7\0");
        assert!(plain.starts_with("IOTRAIL_ENVIRONMENT=") && !plain.contains("A=1"), "{plain}");
        assert_eq!(digest(b"B=2\0A=1\0PWD=/b\0SLURM_JOB_ID=8\0"), plain);
        assert_ne!(digest(b"A=1\0B=3\0"), plain);
        assert_ne!(digest(b"A=1\0B=2\0C=\0"), plain);
    }

    #[test]
    fn another_name_of_the_working_directory_is_kept() {
        let pwd = |environment: &[u8]| chosen(&EnvSelection::default(), environment, 3).get(1).cloned();
        assert_eq!(pwd(b"A=1\0PWD=/link\0").as_deref(), Some("PWD=/link"));
        assert_eq!(pwd(b"A=1\0PWD=/w\0PWD=/link\0"), None);
        assert_eq!(chosen(&EnvSelection::none(), b"PWD=/link\0", 3), [""; 0]);
    }

    #[test]
    fn no_default_name_is_a_pattern_and_none_occurs_twice() {
        let mut names = DEFAULT.to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), DEFAULT.len());
        assert!(names.iter().all(|name| !name.contains(['*', '?', '='])));
        for word in ["TOKEN", "SECRET", "PASSWORD", "COOKIE", "JWT", "KEY", "CREDENTIAL"] {
            assert!(names.iter().all(|name| !name.contains(word)), "{word}");
        }
    }

    #[test]
    fn users_add_names_and_patterns() {
        let mut selection = EnvSelection::none();
        selection.add("OMP_*").unwrap();
        selection.add("X?Z").unwrap();
        assert_eq!(
            chosen(&selection, b"OMP_A=1\0XYZ=2\0XZ=3\0A=OMP_B=4\0OMP_A=again\0=5\0OMP_=6", 3),
            ["OMP_=6", "OMP_A=1", "XYZ=2"]
        );
        assert!(matches!(selection.add("A=1"), Err(EnvError::Value { .. })));
        assert_eq!(selection.add(""), Err(EnvError::Empty));
    }

    #[test]
    fn long_values_are_cut_and_show_it() {
        let mut selection = EnvSelection::none();
        selection.add("*").unwrap();
        let long =
            ["A=", &"x".repeat(100_000), "\0B=", &"y".repeat(MAX_VALUE), "\0", &"z".repeat(9_999)].concat();
        let kept = chosen(&selection, long.as_bytes(), 777);
        assert_eq!(kept, [format!("A={}…", "x".repeat(MAX_VALUE)), format!("B={}", "y".repeat(MAX_VALUE))]);
        let many: String = (0..9_999).map(|number| format!("V{number}=1\0")).collect();
        assert_eq!(chosen(&selection, many.as_bytes(), 4096).len(), MAX_VARIABLES);
    }

    proptest! {
        #[test]
        fn patterns_match_like_their_definition(pattern in "[ab*?]{0,6}", name in "[ab]{0,7}") {
            fn slow(pattern: &[u8], name: &[u8]) -> bool {
                match (pattern.first(), name.first()) {
                    (None, None) => true,
                    (Some(b'*'), _) => slow(&pattern[1..], name) || (!name.is_empty() && slow(pattern, &name[1..])),
                    (Some(b'?'), Some(_)) => slow(&pattern[1..], &name[1..]),
                    (Some(a), Some(b)) if a == b => slow(&pattern[1..], &name[1..]),
                    _ => false,
                }
            }
            prop_assert_eq!(matches(pattern.as_bytes(), name.as_bytes()), slow(pattern.as_bytes(), name.as_bytes()));
        }

        #[test]
        fn pieces_make_no_difference(environment in prop::collection::vec(prop_oneof![Just(0), Just(b'='), Just(b'A'), any::<u8>()], 0..200), piece in 1_usize..50) {
            let mut selection = EnvSelection::none();
            selection.add("*A*").unwrap();
            let (mut whole, mut parts) = (selection.collector(), selection.collector());
            whole.take(&environment);
            environment.chunks(piece).for_each(|bytes| parts.take(bytes));
            prop_assert_eq!(whole.finish(|_| true), parts.finish(|_| true));
        }
    }
}
