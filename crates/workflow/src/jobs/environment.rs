//! Variables that the recording began with.

use super::programs::Programs;
use super::{Jobs, Trouble};
use iotrail_model::ENVIRONMENT_DIGEST;
use iotrail_query::Lives;
use std::collections::BTreeSet;

/// Beginnings of the names by which batch systems, MPI and workflow systems tell a process where it stands: they are those of
/// another run the next time.
const PLACES: &[&str] = &[
    "SLURM_",
    "PMI_",
    "PMIX_",
    "OMPI_",
    "MPI_",
    "MV2_",
    "PALS_",
    "ALPS_",
    "JSM_",
    "FLUX_",
    "PBS_",
    "LSB_",
    "JOB_ID",
    "JOB_NAME",
    "SGE_",
    "PE_HOSTFILE",
    "COBALT_",
    "OAR_",
    "_CONDOR_",
    "PEGASUS_",
    "SNAKEMAKE_",
    "NXF_",
    "CWL_",
    "TOIL_",
    "PARSL_",
    "GALAXY_",
    "_GALAXY_",
    "CROMWELL_",
    "GITHUB_",
    "CI_",
    "BUILD_",
    "PWD=",
];

/// The variables of the first programs that jobs shall have, and those that cannot be written down.
pub(crate) fn environment(programs: &Programs, lives: &Lives) -> (Vec<String>, Vec<String>) {
    let first = programs.all.iter().filter(|program| program.parent.is_none());
    let kept = first.flat_map(|program| &programs.image(program, lives).env).filter(|variable| {
        !variable.starts_with(ENVIRONMENT_DIGEST) && !PLACES.iter().any(|place| variable.starts_with(place))
    });
    kept.cloned().collect::<BTreeSet<_>>().into_iter().partition(|variable| is_plain(variable))
}

/// Whether no sign in it means anything to a shell, to make or to Python.
fn is_plain(variable: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    variable.split_once('=').is_some_and(|(name, value)| {
        name.bytes().all(is_word) && value.bytes().all(|byte| is_word(byte) || b"./:@%+,=-".contains(&byte))
    })
}

impl Jobs {
    /// The variables that jobs shall have, in words, for formats that cannot give them.
    #[must_use]
    pub fn environment_remark(&self) -> Option<String> {
        let variables = self.environment.clone();
        (!variables.is_empty()).then(|| Trouble::Environment { variables }.say())
    }
}
