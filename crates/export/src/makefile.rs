//! A makefile for GNU make 4.3 or later.
//!
//! One rule a job; several files of one job are a grouped target (`&:`, "Rules with Grouped Targets" of the manual). Only
//! names of harmless characters are written as targets and prerequisites, because make cannot express the others.

use crate::again;
use crate::error::ExportError;
use crate::escape::{comment, remarks, shell_again, single_quoted};
use crate::long_lines::{LongLines, each};
use crate::looks;
use crate::owned::Owned;
use crate::runnable::{check, umask};
use crate::targets::{
    Before, NEVER_NOTICED, Names, Rule, Targets, followers, looking_ahead, rules, unheeded, unnoticed,
    unwoken,
};
use crate::watched::{Watched, of_make};
use iotrail_model::text::is_invisible;
use iotrail_workflow::jobs::{Job, Jobs};
use std::collections::BTreeSet;
use std::fmt::Write;

// Writing to a String cannot fail, so results of `write!` are dropped throughout.

/// Jobs run make, if they do, as if there were no other make around it: it would tell its level in what it prints. `unexport`
/// does not take the level away.
const SHELL: &str = "unexport MAKEFLAGS MFLAGS\n.SHELLFLAGS := -c 'UMASKunset MAKELEVEL MAKE_TERMOUT MAKE_TERMERR;AGAIN eval \"$$1\"' sh";

/// Where the file is; its name may have blanks.
const FILE: &str = "this-file := $(lastword $(MAKEFILE_LIST))
this-file := $(if $(wildcard $(this-file)),$(this-file),$(strip $(MAKEFILE_LIST)))
";

/// The file itself, as a word for the shell.
const THIS: &str = "'$(subst ','\\'',$(this-file))'";

/// Forces jobs that have left no stamp here.
const NEW: &str = ".iotrail/new";

/// Words that make takes for its own where a line begins with them.
const DIRECTIVES: [&str; 15] = [
    "define", "endef", "export", "unexport", "undefine", "ifdef", "ifndef", "ifeq", "ifneq", "else", "endif",
    "include", "sinclude", "vpath", "load",
];
const MODIFIERS: [&str; 2] = ["override", "private"];

/// A path as a name in a rule, if make can express it.
fn name(path: &str) -> Option<String> {
    let harmless = |c: char| {
        c.is_ascii_alphanumeric() || "_-./,+@".contains(c) || (!c.is_ascii() && c.is_alphanumeric())
    };
    let special = path.starts_with('-') || (path.starts_with('.') && !path.contains('/')) || path.is_empty();
    // Make takes `./` away from names in rules.
    let place = if DIRECTIVES.contains(&path) || MODIFIERS.contains(&path) { "./" } else { "" };
    (path.chars().all(harmless) && !special).then(|| format!("{place}{path}"))
}

/// A path as a prerequisite that nobody makes, if make can express it.
fn input(path: &str) -> Option<String> {
    let odd = |c: char| is_invisible(c) || "\\=;*?[]()|%'\"`&<>!~^{}".contains(c);
    if let Some(known) = name(path) {
        return Some(known);
    }
    let special =
        path.is_empty() || path.starts_with(['-', ' ', '.']) || path.ends_with(' ') || path.contains("  ");
    if special || path.chars().any(odd) {
        return None;
    }
    let mut written = String::new();
    for character in path.chars() {
        match character {
            ' ' | ':' | '#' => written.extend(['\\', character]),
            '$' => written.push_str("$$"),
            other => written.push(other),
        }
    }
    Some(written)
}

/// Whether functions of make take a name for one word.
fn is_plain(name: &str) -> bool {
    !name.contains(['\\', '$', ',', ' '])
}

/// Make takes a link that leads nowhere for a missing file.
const UNLESS_DANGLING: &str = "\n# Names that a job only asked about: a link that leads nowhere is there, too.\nunless-dangling = $(if $(wildcard $1),$(if $(realpath $1),$1),$1)\n";

/// What is read through a link is known by what the link leads to, and a directory changes with what is in it.
const BY_ITSELF: &str = "\n# What jobs rename may be a link or a directory: then its time is no reason.\nby-itself = $(if $(wildcard $1/.),,$(if $(filter $(realpath $1),$(realpath $(dir $1))/$(notdir $1)),$1))\n";

/// The variable that holds a name which the job changes in place: what make finds by it, it would take for several names.
fn changed_name(job: usize, place: usize) -> String {
    format!("changed-{}-{}", job + 1, place + 1)
}

/// Keeps how these look, for a job.
fn keep_looks(whose: &str, paths: &[String]) -> String {
    keep("_looks", whose, paths)
}

/// A name for a target of ours that no file in a rule has.
fn unused(word: &str, rules: &[Rule], watched: &Watched) -> String {
    let is_taken = |name: &str| {
        let of_rule = |rule: &Rule| {
            let files = rule.targets.all().iter().chain(&rule.inputs).chain(&rule.changed).chain(&rule.after);
            files.chain(&rule.present).any(|file| file == name)
        };
        rules.iter().any(of_rule) || watched.names.iter().flatten().any(|watched| watched == name)
    };
    std::iter::successors(Some(word.to_owned()), |name| Some(format!("{name}-jobs")))
        .find(|name| !is_taken(name))
        .unwrap_or_default()
}

/// Whether something is kept of names for the job.
fn has_looks(rule: &Rule) -> bool {
    [&rule.looks, &rule.permitted, &rule.leaves, &rule.leaves_permitted, &rule.away, &rule.odd]
        .into_iter()
        .any(|paths| !paths.is_empty())
}

/// Whether a job may change what it only read in the recording, because it does one thing or another: it is more than one program.
fn may_write(job: &Job) -> bool {
    job.processes.len() > 1
}

/// A function with names.
fn keep(function: &str, whose: &str, paths: &[String]) -> String {
    let place = |path: &String| if path.starts_with('/') { path.clone() } else { format!("./{path}") };
    let names: Vec<String> = paths.iter().map(|path| single_quoted(&place(path))).collect();
    if names.is_empty() { String::new() } else { format!("{function} {whose} {}", names.join(" ")) }
}

/// The jobs as a makefile.
pub(crate) fn document(jobs: &Jobs, title: &str) -> Result<String, ExportError> {
    check(jobs, "makefile")?;
    let names = Names { target: name, input };
    let jobs = &looking_ahead(jobs, &Owned::of(jobs), Before::Kept, &names);
    let mut owned = Owned::of(jobs);
    owned.followers = followers(jobs, &owned, Before::Kept, &names);
    let owned = &owned;
    let rules = rules(jobs, owned, Before::Kept, &names);
    let watched = Watched::of(jobs, &name);
    let [goal, clean] = ["all", "clean"].map(|word| unused(word, &rules, &watched));
    let mut text = comment(title);
    text.push_str(&comment(
        "For GNU make 4.3 or later; run it in a directory with the inputs: make -f THIS -j",
    ));
    text.push_str(&remarks(jobs));
    text.extend(
        unnoticed(jobs, owned, Before::Kept, &rules, &watched, &names).map(|remark| comment(&remark)),
    );
    text.push_str(&comment(NEVER_NOTICED));
    unheeded(jobs, owned).iter().chain(&unwoken(&rules)).for_each(|remark| text.push_str(&comment(remark)));
    for (name, value) in jobs.environment.iter().filter_map(|variable| variable.split_once('=')) {
        let _ = writeln!(text, "export {name} := {value}");
    }
    let how = format!("\\\"make -f THIS {clean}\\\"");
    let looks = rules.iter().any(has_looks);
    let sum = again::sum(jobs);
    let functions = again::functions(jobs, owned, &how).into_iter().flatten();
    let functions: Vec<String> =
        functions.chain(looks::functions(&sum).into_iter().filter(|_| looks)).collect();
    let functions = Some(functions).filter(|functions| !functions.is_empty()).map(|functions| {
        again::explanation(&functions).for_each(|line| text.push_str(&comment(line)));
        let functions = functions.join(" \\\n  ").replace('$', "$$").replace('#', "\\#");
        format!(" \\\n  {functions} \\\n ")
    });
    let flags = SHELL.replace("UMASK", &umask(jobs)).replace("AGAIN", &functions.unwrap_or_default());
    let _ = write!(
        text,
        "MAKEFLAGS += --no-builtin-rules --no-builtin-variables\n{flags}\n.SUFFIXES:\n.PHONY: {goal} {clean} {NEW}\n{goal}:"
    );
    for rule in &rules {
        let _ = write!(text, " {}", rule.targets.all().join(" "));
    }
    text.push('\n');
    // Make would take those of an interrupted job for changed that it has not looked at; without its stamp that job is run anyhow.
    let grouped = rules.iter().map(|rule| rule.targets.all()).filter(|files| files.len() > 1);
    let grouped: Vec<&str> = grouped.flatten().map(String::as_str).collect();
    if !grouped.is_empty() {
        let _ = writeln!(text, ".PRECIOUS: {}", grouped.join(" "));
    }
    let is_called = |rule: &Rule| matches!(rule.targets, Targets::Files(_)) || !rule.present.is_empty();
    if rules.iter().any(is_called) {
        let _ = write!(
            text,
            "\n# A job that was not run here yet, or of which a file is missing, is run, however old its files are.\nnever-ran = $(if $(filter-out $(wildcard $1),$1),{NEW})\n"
        );
    }
    if rules.iter().flat_map(|rule| &rule.asked).any(|name| is_plain(name)) {
        text.push_str(UNLESS_DANGLING);
    }
    if rules.iter().any(|rule| !rule.renamed.is_empty()) {
        text.push_str(BY_ITSELF);
    }
    if owned.fillings.iter().any(|filling| filling.stays) {
        let made = again::made_list(&again::sum(jobs));
        let _ = write!(
            text,
            "\n# A job is run, too, of which a file is missing that it made the last time.\nmade-gone = $(if $(wildcard {made}$1),$(shell _gone $1 {NEW}))\n"
        );
    }
    if looks {
        text.push_str(&looks::of_make(NEW));
    }
    if watched.any() {
        text.push_str(&of_make(&watched, &again::sum(jobs), NEW, &how));
    }
    // Who is woken by what wakes another job asks for the same.
    let asked: BTreeSet<&String> = rules.iter().flat_map(|rule| &rule.asked).collect();
    let renamed: BTreeSet<&String> = rules.iter().flat_map(|rule| &rule.renamed).collect();
    let is_renamed = |path: &String| input(path).is_some_and(|name| renamed.contains(&name));
    let directories = super::runnable::preparation(jobs);
    let mut long = LongLines::default();
    let mut recipes = String::new();
    for (number, (rule, job)) in rules.iter().zip(&jobs.jobs).enumerate() {
        let Some(line) = shell_again(number, jobs) else { continue };
        let text = &mut recipes;
        let mut recipe = |line: &str| match long.keep(line) {
            Some(place) => format!("eval \"$$(sed -n 's/^{place}//p' {THIS})\""),
            None => line.replace('$', "$$"),
        };
        let _ = write!(text, "\n{}", comment(&format!("job {}: {}", number + 1, job.name)));
        let watches = !watched.names[number].is_empty();
        if watches {
            let _ = writeln!(text, "watched-{} := {}", number + 1, watched.names[number].join(" "));
        }
        let own = &watched.names[number];
        let led =
            rule.looks.iter().filter_map(|path| name(path)).filter(|path| watched.may_lead(number, path));
        let through: Vec<String> = led.filter(|path| !own.contains(path)).collect();
        if !through.is_empty() {
            let _ = writeln!(text, "through-{} := {}", number + 1, through.join(" "));
        }
        if !watched.own[number].is_empty() {
            let _ = writeln!(text, "own-{} := {}", number + 1, watched.own[number].join(" "));
        }
        for (place, changed) in rule.changed.iter().enumerate().filter(|(_, changed)| !is_plain(changed)) {
            let _ = writeln!(text, "{} := {changed}", changed_name(number, place));
        }
        // When make comes to it, a directory above may be away, or it may be a link that leads nowhere.
        for changed in &rule.changed {
            let _ = writeln!(text, "{changed}:");
        }
        match &rule.targets {
            Targets::Files(files) => {
                let others = rule.present.iter().filter(|file| !files.contains(file));
                let missing: Vec<&str> =
                    std::iter::once(&rule.stamp).chain(others).map(String::as_str).collect();
                let (made, missing) = (files.join(" "), missing.join(" "));
                let _ = match files.len() {
                    1 => write!(text, "{made} : $(call never-ran,{missing})"),
                    // Make would take those that are there for made, while it makes one that is missing and with it the others.
                    _ => {
                        let number = number + 1;
                        write!(
                            text,
                            "made-{number} := {made}\n$(made-{number}) &: $(call never-ran,{missing} $(made-{number}))"
                        )
                    }
                };
            }
            Targets::Stamp(stamp) if rule.present.is_empty() => text.push_str(&format!("{stamp}:")),
            Targets::Stamp(stamp) => {
                text.push_str(&format!("{stamp}: $(call never-ran,{})", rule.present.join(" ")))
            }
        }
        for list in &rule.lists {
            let _ = write!(text, " $(call made-gone,{})", list + 1);
        }
        if watches {
            let _ = write!(text, " $(call leads-elsewhere,{0}) $(call are-there,{0})", number + 1);
        }
        if has_looks(rule) {
            let _ = write!(text, " $(call looks-differ,{})", number + 1);
        }
        for list in rule.odd_lists.iter().filter(|list| **list != number) {
            let _ = write!(text, " $(call looks-differ,{}-made)", list + 1);
        }
        for input in &rule.inputs {
            let is_asked = asked.contains(input) && is_plain(input);
            let may_lead = watched.may_lead(number, input) && is_plain(input);
            let _ = match (is_asked, may_lead) {
                _ if renamed.contains(input) && is_plain(input) => {
                    write!(text, " $(if $(wildcard {input}),$(call by-itself,{input}),{input})")
                }
                (true, true) => write!(text, " $(call unless-dangling,$(call unless-theirs,{input}))"),
                (true, false) => write!(text, " $(call unless-dangling,{input})"),
                (false, true) => write!(text, " $(call unless-theirs,{input})"),
                (false, false) => write!(text, " {input}"),
            };
        }
        for (place, changed) in rule.changed.iter().enumerate() {
            let _ = match is_plain(changed) {
                true if rule.renamed.contains(changed) => write!(text, " $(call by-itself,{changed})"),
                true => write!(text, " $(wildcard {changed})"),
                false => write!(text, " $(if $(wildcard $({0})),$({0}))", changed_name(number, place)),
            };
        }
        if !rule.after.is_empty() {
            let _ = write!(text, " | {}", rule.after.join(" "));
        }
        text.push('\n');
        if watches {
            let _ = writeln!(text, "\t@$(call refuse-made,{})", number + 1);
        }
        let mut before = again::before(number, jobs, owned).unwrap_or_default();
        let leads = |paths: &[String]| paths.iter().cloned().partition::<Vec<String>, _>(is_renamed);
        let ((left_leading, left), (more, left_permitted)) =
            (leads(&rule.leaves), leads(&rule.leaves_permitted));
        let left = keep_looks(&format!("{}-left", number + 1), &left);
        let left_permitted = keep("_permitted", &format!("{}-left-permitted", number + 1), &left_permitted);
        let left_leading =
            keep("_leading", &format!("{}-left-leading", number + 1), &[left_leading, more].concat());
        let made = keep("_makes", &format!("{}-made", number + 1), &rule.odd);
        let away = keep("_away", &format!("{}-away", number + 1), &rule.away);
        let parts = [std::mem::take(&mut before.after), left, left_leading, left_permitted, away, made];
        before.after = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
        if !before.checks.is_empty() {
            let _ = writeln!(text, "\t@{}", recipe(&before.checks));
        }
        // Whatever ends it early, make finds no stamp then. It is gone before anything is changed, and after it was looked at all.
        let may_lead = |path: &&String| name(path).is_some_and(|path| watched.may_lead(number, &path));
        let looks: Vec<String> = rule.looks.iter().filter(|path| !may_lead(path)).cloned().collect();
        let is_led = looks.len() < rule.looks.len();
        let ((leading, looks), (more, permitted)) = (leads(&looks), leads(&rule.permitted));
        let begins = [
            format!("rm -f -- {}", rule.stamp),
            before.changes.clone(),
            keep_looks(&(number + 1).to_string(), &looks),
            keep("_leading", &format!("{}-leading", number + 1), &[leading, more].concat()),
            keep("_permitted", &format!("{}-permitted", number + 1), &permitted),
        ];
        let begins: Vec<String> = begins.into_iter().filter(|part| !part.is_empty()).collect();
        let begins = begins.join(" && ");
        let led = if is_led { format!(" && $(call keep-led,{})", number + 1) } else { String::new() };
        let inner = if watches { format!(" && $(call keep-inner,{})", number + 1) } else { String::new() };
        let _ = writeln!(text, "\t@{}{led}{inner}", recipe(&begins));
        let _ = writeln!(text, "\t{}", recipe(&before.around(&format!("{directories}{line}"))));
        let leads = if watches {
            format!(
                "mkdir -p .iotrail && $(call still-nowhere,{0}) && $(call keep-leads,{0}) && ",
                number + 1
            )
        } else {
            String::new()
        };
        let left_alone = match may_write(job) && !looks.is_empty() {
            true => format!("_left_alone {} && ", number + 1),
            false => String::new(),
        };
        // A moved or unpacked file is as old as it was, and make would make it again.
        let _ = match &rule.targets {
            Targets::Files(files) => {
                let stamp = &rule.stamp;
                let there = format!(
                    "{{ {} >/dev/null || {{ echo \"job {} has left other files than when it was recorded\" >&2; exit 1; }}; }} && {}",
                    each("ls -d", files, " >/dev/null && "),
                    number + 1,
                    each("touch -c", files, " && ")
                );
                writeln!(text, "\t@{} && {left_alone}{leads}{}", recipe(&there), again::note(stamp))
            }
            Targets::Stamp(stamp) => writeln!(text, "\t@{left_alone}{leads}{}", again::note(stamp)),
        };
    }
    if let Some(comments) = long.comments() {
        text.push_str(&comments);
        text.push_str(FILE);
    }
    text.push_str(&recipes);
    let _ = write!(text, "\n# Removes what the jobs made.\n{clean}:\n");
    for line in again::clean(jobs, owned) {
        let _ = writeln!(text, "\t@{}", line.replace('$', "$$"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_make_are_names_with_their_place() {
        assert_eq!(name("define").as_deref(), Some("./define"));
        assert_eq!(name("private").as_deref(), Some("./private"));
        assert_eq!(name("a/define").as_deref(), Some("a/define"));
        assert_eq!(input("my in#1:$x").as_deref(), Some("my\\ in\\#1\\:$$x"));
        assert_eq!((input("a=b"), input("a|b"), input("x*")), (None, None, None));
        assert_eq!((name("-include"), name("a b")), (None, None));
    }
}
