//! Variables that are those of one run only.

/// Beginnings of the names by which batch systems, MPI and workflow systems tell a process where it stands: they are those of
/// another run the next time.
const BEGINNINGS: &[&str] = &[
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
];

/// How the name of a variable begins that tells a process where it stands in its run; `None` for others.
#[must_use]
pub fn variable_of_run(name: &str) -> Option<&'static str> {
    BEGINNINGS.iter().find(|beginning| name.starts_with(**beginning)).copied()
}
