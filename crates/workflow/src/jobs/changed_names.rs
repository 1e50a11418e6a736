//! Who must wait for whom because of the directories and symbolic links on the way to a name.
//!
//! Whoever uses a name, even one that is not there, needs who made, changed, renamed or removed it or a directory or link on the
//! way to it before; who makes, renames or removes such a directory or link needs who used it, or anything below it, and
//! was over by then. Paths of a trail have their links and `..` resolved, so a link is also used by whose command line names it, and
//! so is what a command line goes up from (`d/../x`).

use super::commands::{Commands, Doer};
use super::programs::{ProgramId, name};
use super::stages::parent;
use super::steps::{JobAction, Step};
use super::turns::Needs;
use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};
use iotrail_model::{Names, PathId, Timestamp};
use iotrail_query::ProcessTable;
use std::collections::{BTreeSet, VecDeque};
use std::ops::Bound::{Included, Unbounded};
use std::sync::Arc;

/// Numbers of directories and links that are made, changed, renamed or removed in the recording.
#[derive(Debug, Default)]
struct ChangedNames<'a> {
    numbers: HashMap<&'a str, usize, RandomState>,
    /// By number.
    names: Vec<&'a str>,
    links: HashSet<&'a str, RandomState>,
}

/// Who did what to one directory or link.
#[derive(Clone, Debug, Default)]
struct NameUse {
    /// Who made, renamed or removed it last.
    changer: Option<u32>,
    /// Who used it or what is below it, since all were waited for.
    users: BTreeSet<Doer>,
}

/// What happens at one moment.
struct Happening {
    at: Timestamp,
    doer: Doer,
    used: Vec<usize>,
    changed: Vec<usize>,
}

/// Where a link leads by `..`.
struct Lead {
    made: Timestamp,
    /// Names that its target goes up from.
    turns: BTreeSet<usize>,
}

/// A command went through a directory or link that changes in the recording, and up again.
#[derive(Debug)]
pub(crate) struct Climb {
    pub(crate) at: Timestamp,
    pub(crate) job: u32,
    pub(crate) name: Arc<str>,
}

/// Which job needs which, and which went up from what, in the order of time.
pub(crate) fn needs(
    steps: &[Step],
    names: &Names,
    processes: &ProcessTable,
    commands: &Commands<'_>,
) -> (Needs, Vec<Climb>) {
    let (mut needs, mut climbs) = (Needs::default(), Vec::new());
    let changed_names = ChangedNames::new(steps, names);
    if changed_names.numbers.is_empty() {
        return (needs, climbs);
    }
    let mut happenings = changed_names.of_steps(steps, names, commands);
    let leads = changed_names.of_links(steps, names, processes, commands);
    happenings.extend(changed_names.of_commands(processes, commands, &leads, &mut climbs));
    climbs.sort_by_key(|climb| climb.at);
    happenings.sort_by_key(|happening| happening.at);
    let mut all = vec![NameUse::default(); changed_names.numbers.len()];
    for Happening { at, doer, used, changed } in happenings {
        let job = doer.job;
        for name_use in used {
            let name_use = &mut all[name_use];
            needs.extend(name_use.changer.filter(|other| *other != job).map(|other| (job, other)));
            name_use.users.insert(doer);
        }
        for name_use in changed {
            let name_use = &mut all[name_use];
            needs.extend(
                name_use.changer.replace(job).filter(|other| *other != job).map(|other| (job, other)),
            );
            // Who goes on meanwhile cannot be waited for.
            name_use.users.retain(|user| {
                let over = user.job == job || user.is_over(at);
                if over && user.job != job {
                    needs.insert((job, user.job));
                }
                !over
            });
        }
    }
    (needs, climbs)
}

impl<'a> ChangedNames<'a> {
    fn new(steps: &[Step], names: &'a Names) -> Self {
        let text = |path: PathId| &**name(names, path);
        let mut changed: BTreeSet<&'a str> = BTreeSet::new();
        let mut links: HashSet<&'a str, RandomState> = HashSet::default();
        let mut directories: HashSet<&str, RandomState> = HashSet::default();
        let mut renames: VecDeque<(&'a str, &'a str)> = VecDeque::new();
        let mut touched: BTreeSet<&'a str> = BTreeSet::new();
        for step in steps {
            let Some(path) = step.path.get().map(text) else { continue };
            match step.action {
                JobAction::MakeDirectory(_) | JobAction::RemoveDirectory => drop(changed.insert(path)),
                JobAction::Symlink => {
                    changed.insert(path);
                    links.insert(path);
                }
                JobAction::List => drop(directories.insert(path)),
                JobAction::Open(mode) if mode.directory => drop(directories.insert(path)),
                JobAction::Mode(_) | JobAction::Times => drop(touched.insert(path)),
                JobAction::Rename => renames.extend(step.path2.get().map(|target| (path, text(target)))),
                _ => {}
            }
        }
        let sorted: BTreeSet<&str> = if renames.is_empty() && touched.is_empty() {
            BTreeSet::new()
        } else {
            names.paths.iter().map(|path| &**path).collect()
        };
        let is_directory = |path: &str| {
            let below = format!("{path}/");
            directories.contains(path)
                || sorted
                    .range::<str, _>((Included(&*below), Unbounded))
                    .next()
                    .is_some_and(|next| next.starts_with(&below))
        };
        // What may be done in it, what is made there and what a copy is like follow from its permissions and times.
        changed.extend(touched.into_iter().filter(|path| is_directory(path)));
        renames.retain(|(from, to)| {
            let both = is_directory(from) || is_directory(to);
            if both {
                changed.extend([*from, *to]);
            }
            !both
        });
        // A renamed link is a link, and so is what stood there.
        loop {
            let before = renames.len();
            renames.retain(|(from, to)| {
                let known = changed.contains(from) || changed.contains(to);
                if known {
                    changed.extend([*from, *to]);
                    if links.contains(from) || links.contains(to) {
                        links.extend([*from, *to]);
                    }
                }
                !known
            });
            if renames.len() == before {
                break;
            }
        }
        let names: Vec<&str> = changed.into_iter().collect();
        let numbers = names.iter().enumerate().map(|(number, path)| (*path, number)).collect();
        Self { numbers, names, links }
    }

    /// The name and all on the way to it, as far as they change.
    fn on_the_way(&self, path: &str) -> Vec<usize> {
        let mut found = Vec::new();
        let mut rest = Some(path.trim_end_matches('/'));
        while let Some(part) = rest.filter(|part| !part.is_empty()) {
            found.extend(self.numbers.get(part).copied());
            rest = part.rsplit_once('/').map(|(parent, _)| parent);
        }
        found
    }

    fn of_steps(&self, steps: &[Step], names: &Names, commands: &Commands<'_>) -> Vec<Happening> {
        let mut known: HashMap<PathId, Vec<usize>, RandomState> = HashMap::default();
        let mut found = Vec::new();
        for (number, step) in steps.iter().enumerate() {
            let changes = match step.action {
                // It may take away the right to write there.
                JobAction::MakeDirectory(_)
                | JobAction::RemoveDirectory
                | JobAction::Symlink
                | JobAction::Rename
                | JobAction::Remove
                | JobAction::Mode(_)
                | JobAction::Times => true,
                JobAction::Open(_)
                | JobAction::Exec
                | JobAction::Look
                | JobAction::Stat
                | JobAction::Missing
                | JobAction::Tried
                | JobAction::Hindered
                | JobAction::List
                | JobAction::Link
                | JobAction::Change
                | JobAction::Fifo => false,
                _ => continue,
            };
            let own = commands.programs.of_step[number].and_then(|program| commands.of_program(program));
            let Some(doer) = own.or_else(|| commands.of_opened(number)) else { continue };
            let second =
                step.path2.get().filter(|_| matches!(step.action, JobAction::Rename | JobAction::Link));
            let (mut used, mut changed) = (Vec::new(), Vec::new());
            used.extend(names.flags(step.via).into_iter().flat_map(|via| self.on_the_way(via)));
            for path in step.path.get().into_iter().chain(second) {
                let text = &**name(names, path);
                used.extend_from_slice(known.entry(path).or_insert_with(|| self.on_the_way(text)));
                changed.extend(self.numbers.get(text).copied().filter(|_| changes));
            }
            if !used.is_empty() {
                found.push(Happening { at: step.start, doer, used, changed });
            }
        }
        found
    }

    /// By link, when it was made first, and what its target goes up from (`ln -s d/../x link`), as the command line says that made it.
    fn of_links(
        &self,
        steps: &[Step],
        names: &Names,
        processes: &ProcessTable,
        commands: &Commands<'_>,
    ) -> HashMap<usize, Lead, RandomState> {
        let mut leads: HashMap<usize, Lead, RandomState> = HashMap::default();
        for (number, step) in steps.iter().enumerate().filter(|(_, step)| step.action == JobAction::Symlink) {
            let program = commands.programs.of_step[number];
            let link = step.path.get().map(|path| &**name(names, path));
            let (Some(program), Some(link)) = (program, link) else { continue };
            let Some((place, known)) = parent(link).zip(self.numbers.get(link)) else { continue };
            let image = commands.programs.image(commands.programs.get(program), processes);
            let words = image.cmdline.as_deref().unwrap_or_default().split('\0').flat_map(paths_in);
            let turns = words.flat_map(turns).flat_map(|turn| self.on_the_way(&absolute(place, turn)));
            let lead = leads.entry(*known).or_insert(Lead { made: step.start, turns: BTreeSet::new() });
            lead.made = lead.made.min(step.start);
            lead.turns.extend(turns.filter(|turn| turn != known));
        }
        leads
    }

    /// Directories that commands run in, and links that their command lines name, or what these go up from.
    fn of_commands(
        &self,
        processes: &ProcessTable,
        commands: &Commands<'_>,
        leads: &HashMap<usize, Lead, RandomState>,
        climbs: &mut Vec<Climb>,
    ) -> Vec<Happening> {
        let programs = commands.programs;
        let mut found = Vec::new();
        for (number, program) in programs.all.iter().enumerate() {
            let (Some(doer), Some(at), false) =
                (commands.of_program(ProgramId(number as u32)), program.start, program.is_redone())
            else {
                continue;
            };
            let image = programs.image(program, processes);
            let cwd = image.cwd.as_deref().unwrap_or_default();
            let called = programs.called_directory(program, processes).unwrap_or_default();
            let mut used: BTreeSet<usize> =
                [cwd, called].into_iter().flat_map(|path| self.on_the_way(path)).collect();
            let words = image.cmdline.as_deref().unwrap_or_default().split('\0');
            let mut climbed: BTreeSet<usize> = BTreeSet::new();
            for word in words.filter(|word| !self.links.is_empty() || word.contains("/..")) {
                for path in paths_in(word) {
                    climbed.extend(turns(path).flat_map(|turn| self.on_the_way(&absolute(cwd, turn))));
                    used.extend(self.on_the_way(&absolute(cwd, path)));
                }
            }
            // Who makes a link names it, too, and has not come that way.
            let known = used.iter().filter_map(|link| leads.get(link)).filter(|lead| lead.made < at);
            climbed.extend(known.flat_map(|lead| &lead.turns));
            climbs.extend(climbed.iter().map(|number| Climb {
                at,
                job: doer.job,
                name: self.names[*number].into(),
            }));
            used.extend(climbed);
            if !used.is_empty() {
                found.push(Happening { at, doer, used: used.into_iter().collect(), changed: Vec::new() });
            }
        }
        found
    }
}

/// What may be a path in an argument: all of it, a part of it, or what follows a short option.
pub(crate) fn paths_in(word: &str) -> impl Iterator<Item = &str> {
    let inside = |c: char| c.is_whitespace() || "'\"`=:;,()<>|&{}$".contains(c);
    let parts = word.split(inside).filter(move |part| part.len() < word.len());
    let option = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')).and_then(|rest| rest.get(1..));
    std::iter::once(word).chain(parts).chain(option).filter(|part| !part.is_empty())
}

/// How far a path leads before each `..`: what goes up from there was there.
fn turns(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices("/..").map(|(at, _)| &path[..at])
}

/// Whether a name is that path, or below it.
pub(crate) fn is_at(name: &str, path: &str) -> bool {
    name.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The path as the directory and its text say, whatever links there are.
pub(crate) fn absolute(cwd: &str, path: &str) -> Arc<str> {
    let whole = if path.starts_with('/') { path.to_owned() } else { format!("{cwd}/{path}") };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_names_paths_in_several_ways() {
        let all = |word: &'static str| paths_in(word).collect::<Vec<_>>();
        assert_eq!(all("L/"), ["L/"]);
        assert_eq!(all("--from=L/x"), ["--from=L/x", "--from", "L/x"]);
        assert_eq!(all("-IL"), ["-IL", "L"]);
        assert!(all("cd L; ls").contains(&"L"));
        assert_eq!(&*absolute("/w", "./L//x/../y"), "/w/L/y");
        assert_eq!(&*absolute("/w", "/L/"), "/L");
        assert_eq!(turns("L/../../x").collect::<Vec<_>>(), ["L", "L/.."]);
    }
}
