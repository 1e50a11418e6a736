//! A Snakefile.
//!
//! One rule a job without wildcards. Braces mean wildcards in names and values in commands, so they are doubled; strings
//! are written as Python writes them. The commands run in `/bin/sh`: the strict mode that Snakemake gives to bash would
//! end pipelines whose reader stops early.

use crate::error::ExchangeError;
use crate::escape::{comment, remarks, shell};
use crate::runnable::{check, make_directories};
use crate::targets::{BEGIN, Rule, Targets, rules};
use iotrail_workflow::jobs::Jobs;
use std::fmt::Write;

// Writing to a String cannot fail, so results of `write!` are dropped throughout.

/// A string literal of Python with braces doubled.
fn literal(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '{' => out.push_str("{{"),
            '}' => out.push_str("}}"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}') => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
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
pub(crate) fn document(jobs: &Jobs, title: &str) -> Result<String, ExchangeError> {
    check(jobs, "snakemake")?;
    let rules = rules(jobs, name);
    let mut text = comment(title);
    text.push_str(&comment("Run it in a directory with the inputs: snakemake -s THIS --cores all"));
    text.push_str(&remarks(jobs));
    text.push_str("shell.executable(\"/bin/sh\")\nshell.prefix(\"\")\n\nrule all:\n");
    let of_files = rules.iter().any(|rule| matches!(rule.targets, Targets::Files(_)));
    // Asked for by name, because a file that is there already would make Snakemake skip what it is made from.
    let begin = of_files.then_some(BEGIN);
    let goals: Vec<String> = begin.into_iter().chain(rules.iter().flat_map(all)).map(literal).collect();
    list(&mut text, "input", &goals);
    if of_files {
        let _ = write!(text, "\nrule begin:\n    output:\n        touch({}),\n", literal(BEGIN));
    }
    let directories = make_directories(jobs);
    for (number, (rule, job)) in rules.iter().zip(&jobs.jobs).enumerate() {
        let Some(line) = shell(job, jobs) else { continue };
        let _ = write!(
            text,
            "\n{}rule job_{:04}:\n",
            comment(&format!("job {}: {}", number + 1, job.name)),
            number + 1
        );
        let begin = matches!(rule.targets, Targets::Files(_)).then(|| literal(BEGIN));
        let others = rule.inputs.iter().chain(&rule.after).map(|file| literal(file));
        let inputs: Vec<String> = others.chain(begin).collect();
        list(&mut text, "input", &inputs);
        let outputs: Vec<String> = match &rule.targets {
            Targets::Files(files) => files.iter().map(|file| literal(file)).collect(),
            Targets::Stamp(stamp) => vec![format!("touch({})", literal(stamp))],
        };
        list(&mut text, "output", &outputs);
        let _ = writeln!(text, "    shell:\n        {}", literal(&format!("{directories}{line}")));
    }
    Ok(text)
}

fn all(rule: &Rule) -> Vec<&str> {
    match &rule.targets {
        Targets::Files(files) => files.iter().map(String::as_str).collect(),
        Targets::Stamp(stamp) => vec![stamp],
    }
}
