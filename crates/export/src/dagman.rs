//! A DAG of HTCondor's DAGMan with its submit descriptions inline (`SUBMIT-DESCRIPTION`, HTCondor 10 and later).
//!
//! Arguments are in the new syntax of condor_submit: the whole between double quotes, words with blanks or quotes between
//! single quotes, quotes within doubled; `$` would begin a macro and is `$(DOLLAR)`.

use crate::error::ExportError;
use crate::escape::{comment, remarks_with_environment};
use crate::runnable::{check, words};
use iotrail_workflow::jobs::{Job, Jobs};
use std::fmt::Write;

// Writing to a String cannot fail, so results of `write!` are dropped throughout.

/// Arguments as a value of `arguments`.
fn arguments(words: &[String]) -> String {
    let quoted: Vec<String> = words
        .iter()
        .map(|word| {
            let plain = !word.is_empty() && !word.contains([' ', '\t', '\'']);
            if plain { word.clone() } else { format!("'{}'", word.replace('\'', "''")) }
        })
        .collect();
    format!("\"{}\"", quoted.join(" ").replace('"', "\"\"").replace('$', "$(DOLLAR)"))
}

/// Whether a word cannot be written in a submit description: `(DOLLAR)` behind a dollar is replaced again after the
/// dollar was put there, and `$$` begins a macro of the machine that is found later.
fn is_macro(word: &str) -> bool {
    word.contains("$(DOLLAR)") || word.contains("$$")
}

fn node(number: usize) -> String {
    format!("job{:04}", number + 1)
}

fn description(text: &mut String, number: usize, job: &Job, words: &[String]) {
    let Some((executable, rest)) = words.split_first() else { return };
    let _ = write!(
        text,
        "\n# {}SUBMIT-DESCRIPTION {}_submit {{\n    executable = {}\n",
        comment(&job.name).trim_start_matches("# "),
        node(number),
        executable.replace('$', "$(DOLLAR)")
    );
    if !rest.is_empty() {
        let _ = writeln!(text, "    arguments = {}", arguments(rest));
    }
    text.push_str("    universe = vanilla\n    transfer_executable = false\n    should_transfer_files = NO\n    getenv = true\n");
    if let Some(memory) = job.memory {
        let _ = writeln!(text, "    request_memory = {}KB", memory.div_ceil(1024));
    }
    let _ = write!(
        text,
        "    log = $(JOB).log\n    output = $(JOB).out\n    error = $(JOB).err\n}}\nJOB {0} {0}_submit\n",
        node(number)
    );
}

/// The jobs as a DAG.
pub(crate) fn document(jobs: &Jobs, title: &str) -> Result<String, ExportError> {
    check(jobs, "dagman")?;
    let mut text = comment(title);
    text.push_str(&comment(
        "Submit it in a directory with the inputs that all machines see: condor_submit_dag THIS",
    ));
    text.push_str(&remarks_with_environment(jobs));
    if let Some(directory) = &jobs.home {
        text.push_str(&comment(&format!("this directory must be there: {directory}")));
    }
    for (number, job) in jobs.jobs.iter().enumerate() {
        if let Some(words) = words(job, jobs, is_macro) {
            description(&mut text, number, job, &words);
        }
    }
    text.push('\n');
    for (number, job) in jobs.jobs.iter().enumerate().filter(|(_, job)| !job.needs.is_empty()) {
        let parents: Vec<String> = job.needs.iter().map(|needed| node(needed.index())).collect();
        let _ = writeln!(text, "PARENT {} CHILD {}", parents.join(" "), node(number));
    }
    Ok(text)
}
