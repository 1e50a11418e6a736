//! A Snakefile.
//!
//! One rule a job without wildcards. Braces mean wildcards in names and values in commands, so they are doubled; strings
//! are written as Python writes them. The commands run in `/bin/sh`: the strict mode that Snakemake gives to bash would
//! end pipelines whose reader stops early.

use crate::again;
use crate::error::ExportError;
use crate::escape::{Base, comment, remarks, shell_again, single_quoted};
use crate::long_lines::LongLines;
use crate::looks::OF_SNAKEMAKE as OF_LOOKS;
use crate::owned::Owned;
use crate::runnable::{check, preparation, umask};
use crate::targets::{
    Before, NEVER_NOTICED, Names, Rule, followers, looking_ahead, rules, unheeded, unnoticed, unwoken,
};
use crate::watched::{self, OF_SNAKEMAKE, Watched};
use iotrail_model::text::is_invisible;
use iotrail_workflow::jobs::{Job, Jobs};
use std::collections::BTreeSet;
use std::fmt::Write;

// Writing to a String cannot fail, so results of `write!` are dropped throughout.

/// Snakemake sets numbers of threads and places of temporary files for each job; programs shall have those of whoever runs it.
const SHELL: &str = "import os, shlex, stat, zlib
shell.executable(\"/bin/sh\")
shell.prefix(
    \"\".join(
        f\"export {name}={shlex.quote(os.environ[name])}; \" if name in os.environ else f\"unset {name}; \"
        for name in (
            \"OMP_NUM_THREADS\", \"GOTO_NUM_THREADS\", \"OPENBLAS_NUM_THREADS\", \"MKL_NUM_THREADS\",
            \"VECLIB_MAXIMUM_THREADS\", \"NUMEXPR_NUM_THREADS\", \"TMPDIR\", \"TMP\", \"TEMPDIR\", \"TEMP\",
        )
    )
";

/// The shell reads a line from the file itself.
const HERE: &str = "
def here(place):
    file = shlex.quote(os.path.abspath(workflow.snakefile)).replace(\"{\", \"{{\").replace(\"}\", \"}}\")
    return f\"eval \\\"$(sed -n 's/^{place}//p' {file})\\\"\"
";

/// Snakemake takes a link that leads nowhere for a missing file.
const UNLESS_DANGLING: &str = "
# Names that a job only asked about: a link that leads nowhere is there, too.
def unless_dangling(name):
    return [] if os.path.islink(name) and not os.path.exists(name) else [name]
";

/// Snakemake deletes outputs before a job runs; an input function is asked before that.
const FIRST: &str = "
# Ends with an error, before Snakemake deletes outputs, if a job that leaves the mark never began here and these lie there.
def first(mark, *names):
    def look(wildcards):
        taken = [name for name in names if os.path.lexists(name) and not os.path.exists(mark)]
        if taken:
            raise ValueError(f\"{taken[0]}: it is not of these jobs; move it away, and make again\")
        return []
    return look
";

/// A string literal of Python with braces doubled.
fn literal(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '{' => out.push_str("{{"),
            '}' => out.push_str("}}"),
            c if is_invisible(c) => {
                let _ = write!(out, "\\U{:08x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A string of Python that nobody formats.
fn plain_literal(text: &str) -> String {
    literal(text).replace("{{", "{").replace("}}", "}")
}

/// A path as a name in a rule, if Snakemake can express it.
fn name(path: &str) -> Option<String> {
    // Braces are wildcards, signs around a name are variables of paths.
    let odd = path.contains(['\\', '{', '}', '<', '>'])
        || path.contains("//")
        || path.starts_with("./")
        || path.chars().any(char::is_control);
    (!odd && !path.is_empty()).then(|| path.to_owned())
}

fn list(text: &mut String, key: &str, values: &[String]) {
    if values.is_empty() {
        return;
    }
    let _ = writeln!(text, "    {key}:");
    for value in values {
        let _ = writeln!(text, "        {value},");
    }
}

/// The jobs as a Snakefile.
pub(crate) fn document(jobs: &Jobs, title: &str) -> Result<String, ExportError> {
    check(jobs, "snakemake")?;
    let names = Names { target: name, input: name };
    let jobs = &looking_ahead(jobs, &Owned::of(jobs), Before::Deleted, &names);
    let mut owned = Owned::of(jobs);
    // A job that makes nothing in what it lists would be refused when its outputs are deleted.
    owned.listings.clear();
    owned.followers = followers(jobs, &owned, Before::Deleted, &names);
    let owned = &owned;
    let rules = rules(jobs, owned, Before::Deleted, &names);
    let watched = Watched::of(jobs, &name);
    let mut text = comment(title);
    text.push_str(&comment("Run it in a directory with the inputs: snakemake -s THIS --cores all"));
    text.push_str(&remarks(jobs));
    text.extend(
        unnoticed(jobs, owned, Before::Deleted, &rules, &watched, &names).map(|remark| comment(&remark)),
    );
    text.push_str(&comment(NEVER_NOTICED));
    unheeded(jobs, owned).iter().chain(&unwoken(&rules)).for_each(|remark| text.push_str(&comment(remark)));
    let variables = jobs.environment.iter().map(|variable| format!("export {variable}; "));
    let variables: String = variables.chain([umask(jobs)]).collect();
    let _ = write!(text, "{SHELL}    + \"{variables}\"\n)\n");
    let (how, sum) = ("the rule clean", again::sum(jobs));
    let of_links = watched.any().then(|| watched::functions(&sum, how));
    let functions: Vec<String> = again::functions(jobs, owned, how)
        .into_iter()
        .flatten()
        .chain(of_links.into_iter().flatten())
        .collect();
    let has_functions = !functions.is_empty();
    if has_functions {
        let explanation: String = again::explanation(&functions).map(comment).collect();
        let functions: Vec<String> =
            functions.iter().map(|function| format!("    {}\n", literal(&format!("{function} ")))).collect();
        let _ = writeln!(text, "\n{explanation}AGAIN = (\n{})", functions.concat());
    }
    if watched.any() {
        let set =
            |names: &BTreeSet<String>| names.iter().map(|name| literal(name)).collect::<Vec<_>>().join(", ");
        let (made, directories) = (set(&watched.made), set(&watched.directories));
        let _ = write!(
            text,
            "\nMADE = frozenset([{made}])\nMADE_DIRECTORIES = ({directories}{})\n",
            if watched.directories.is_empty() { "" } else { "," }
        );
        text.push_str(OF_SNAKEMAKE);
    }
    if rules.iter().any(|rule| !rule.looks.is_empty() || !rule.permitted.is_empty()) {
        text.push_str(OF_LOOKS);
    }
    let base = Base::of(jobs);
    if rules.iter().zip(&jobs.jobs).any(|(rule, job)| !deleted(rule, job, &base).is_empty()) {
        text.push_str(FIRST);
    }
    if rules.iter().any(|rule| !rule.asked.is_empty()) {
        text.push_str(UNLESS_DANGLING);
    }
    text.push_str("\nrule all:\n");
    let made: BTreeSet<&str> = rules.iter().flat_map(outputs).collect();
    // Snakemake runs no job again whose input was removed, but does not do without one of its goals.
    let inputs = rules.iter().flat_map(|rule| rule.inputs.iter().chain(&rule.changed)).map(String::as_str);
    let inputs: BTreeSet<&str> = inputs.filter(|input| !made.contains(input)).collect();
    let asked: BTreeSet<&str> = rules.iter().flat_map(|rule| &rule.asked).map(String::as_str).collect();
    let input = |name: &str| match asked.contains(name) {
        true => format!("*unless_dangling({})", literal(name)),
        false => literal(name),
    };
    let of_job = |number: usize, name: &str| match watched.may_lead(number, name) {
        true if asked.contains(name) => {
            let name = literal(name);
            format!("*(unless_theirs({name}) and unless_dangling({name}))")
        }
        true => format!("*unless_theirs({})", literal(name)),
        false => input(name),
    };
    let goals = rules.iter().flat_map(outputs).map(literal).chain(inputs.into_iter().map(input));
    list(&mut text, "input", &goals.collect::<Vec<String>>());
    let directories = preparation(jobs);
    let mut long = LongLines::default();
    let mut rule_text = String::new();
    for (number, (rule, job)) in rules.iter().zip(&jobs.jobs).enumerate() {
        let Some(line) = shell_again(number, jobs) else { continue };
        let text = &mut rule_text;
        let _ = write!(
            text,
            "\n{}rule job_{:04}:\n",
            comment(&format!("job {}: {}", number + 1, job.name)),
            number + 1
        );
        let inputs = rule.inputs.iter().chain(&rule.changed).chain(&rule.after);
        let names: Vec<String> = watched.names[number].iter().map(|name| literal(name)).collect();
        let names = Some(names.join(", ")).filter(|names| !names.is_empty());
        let there = names.as_ref().map(|names| format!("*there({names})"));
        let first = Some(deleted(rule, job, &base)).filter(|names| !names.is_empty());
        let first = first
            .map(|names| format!("first({}, {})", literal(&again::mark(number, jobs)), names.join(", ")));
        let inputs: Vec<String> = inputs.map(|file| of_job(number, file)).chain(there).chain(first).collect();
        list(text, "input", &inputs);
        let files = outputs(rule).filter(|file| *file != rule.stamp).map(literal);
        let outputs: Vec<String> = files.chain([format!("touch({})", literal(&rule.stamp))]).collect();
        list(text, "output", &outputs);
        let leads = names.map(|names| format!("leads({names})"));
        // What lies where a link leads may be made by a later job.
        let looks = [(&rule.looks, ""), (&rule.permitted, ", permissions=False")];
        let looks = looks.into_iter().filter_map(|(paths, how)| {
            let look = |path: &String| match watched.may_lead(number, path) {
                true => format!("*unless_theirs({})", plain_literal(path)),
                false => plain_literal(path),
            };
            let paths: Vec<String> = paths.iter().map(look).collect();
            (!paths.is_empty()).then(|| format!("looks({}{how})", paths.join(", ")))
        });
        list(text, "params", &leads.into_iter().chain(looks).collect::<Vec<_>>());
        let before = again::before(number, jobs, owned).unwrap_or_default();
        let led = &watched.names[number];
        let (since, nowhere) = match led.is_empty() {
            true => (String::new(), String::new()),
            false => {
                let names: Vec<String> = led.iter().map(|name| single_quoted(name)).collect();
                let job = number + 1;
                (format!("_since {job}"), format!("_nowhere {job} {}", names.join(" ")))
            }
        };
        let calls = !before.checks.is_empty() || !job.leaves.is_empty() || !led.is_empty();
        let again = if calls { "AGAIN + " } else { "" };
        let parts = [&*since, &*before.checks, &*before.changes, &*nowhere];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let first =
            if parts.is_empty() { String::new() } else { format!("{} || exit; ", parts.join(" && ")) };
        let commands = before.around(&format!("{directories}{line}"));
        let line = command(&mut long, &format!("{first}{commands}"));
        let _ = writeln!(text, "    shell:\n        {again}{line}");
    }
    let clean = command(&mut long, &again::clean(jobs, owned).join("; "));
    if let Some(comments) = long.comments() {
        text.push_str(&comments);
        text.push_str(HERE);
    }
    text.push_str(&rule_text);
    let again = if has_functions { "AGAIN + " } else { "" };
    let _ =
        write!(text, "\n# Removes what the jobs made.\nrule clean:\n    shell:\n        {again}{clean}\n");
    Ok(text)
}

/// What the shell of a rule is told, as an expression.
fn command(long: &mut LongLines, line: &str) -> String {
    match long.keep(line) {
        Some(place) => format!("here({})", literal(&place)),
        None => literal(line),
    }
}

/// Outputs that must not be there when the job begins for the first time, as literals.
fn deleted(rule: &Rule, job: &Job, base: &Base) -> Vec<String> {
    let clear = job.made.iter().filter(|made| made.clear).map(|made| base.relative(&made.path));
    let clear: BTreeSet<String> = clear.collect();
    rule.made.iter().filter(|file| clear.contains(*file)).map(|file| literal(file)).collect()
}

/// The files and the stamp of a job.
fn outputs(rule: &Rule) -> impl Iterator<Item = &str> {
    rule.made.iter().chain([&rule.stamp]).map(String::as_str)
}
