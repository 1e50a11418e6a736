//! What commands do with the times of files: set them, compare them, show them.
//!
//! No call tells that a program compares times: it asks for all that is known of several files and looks at a part of the
//! answer. Programs that do are known by their names and options; of any other, but those that are known not to, files count
//! that it asked about and did nothing else with.

use super::called::base;
use super::command::words;
use super::divide::is_shell;
use super::programs::{Handle, Program, ProgramId, Programs, name};
use super::steps::{JobAction, Step};
use foldhash::fast::RandomState;
use hashbrown::HashSet;
use iotrail_model::known_words::{KnownWords, known_words};
use iotrail_model::{Names, PathId, Timestamp};
use iotrail_query::ProcessTable;
use std::collections::{BTreeMap, BTreeSet};

/// What a command makes of the times of the files that it asks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interest {
    No,
    /// It may compare those of files with which it does nothing else.
    Perhaps,
    /// It compares them.
    Compares,
    /// It compares those of files with those of what they are made from.
    Builds,
    /// It shows them.
    Shows,
    /// It writes them to a file.
    Stores,
}

/// Programs that ask about files, and never for their times.
const INDIFFERENT: [&str; 21] = [
    "rm", "rmdir", "mkdir", "ln", "chmod", "chown", "chgrp", "touch", "cat", "head", "tail", "sort", "wc",
    "du", "readlink", "realpath", "basename", "dirname", "cmp", "mktemp", "which",
];
/// Programs that make what is older than what it is made from.
const BUILDERS: [&str; 12] = [
    "make",
    "gmake",
    "bmake",
    "ninja",
    "samu",
    "scons",
    "snakemake",
    "cmake",
    "meson",
    "rake",
    "tup",
    "redo",
];

/// What `git` does that keeps times.
const GIT: [&str; 16] = [
    "add",
    "am",
    "checkout",
    "cherry-pick",
    "clone",
    "commit",
    "merge",
    "mv",
    "pull",
    "rebase",
    "reset",
    "restore",
    "revert",
    "rm",
    "stash",
    "switch",
];

/// The program that does the work, and what is known of the words behind it.
pub(crate) fn told(line: &str) -> Option<(&str, KnownWords<'_>, Vec<&str>)> {
    let words: Vec<&str> = words(line).collect();
    let (first, words) = words.split_first()?;
    let program = base(first);
    Some((program, known_words(program, words), words.to_vec()))
}

/// What a command line makes of times.
pub(crate) fn interest(line: &str) -> Interest {
    let Some((program, known, words)) = told(line) else { return Interest::Perhaps };
    let stores = |yes: bool| if yes { Interest::Stores } else { Interest::No };
    let compares = |yes: bool| if yes { Interest::Compares } else { Interest::No };
    let shows = |yes: bool| if yes { Interest::Shows } else { Interest::No };
    match program {
        "test" | "[" => compares(known.words.iter().any(|word| matches!(*word, "-nt" | "-ot"))),
        "find" if known.begins(&["-newer", "-anewer", "-cnewer"]) => Interest::Compares,
        "find" => shows(known.has_directive("tTaAcC") || known.begins(&["-ls", "-fls"])),
        "ls" | "dir" | "vdir" if known.has_letter("tcu") || known.has_long(&["sort=time", "time"]) => {
            Interest::Compares
        }
        "ls" | "dir" => shows(is_long_list(&known)),
        "vdir" => Interest::Shows,
        "stat" => shows(!has_format(&known) || known.has_directive("wWxXyYzZ")),
        "date" => shows(known.has_letter("r") || known.has_long(&["reference"])),
        "cp" | "mv" => compares(known.has_letter("u") || known.has_long(&["update"])),
        "rsync" => Interest::Compares,
        "tar" | "bsdtar" => {
            let makes = known.has_letter("cru") || known.has_long(&["create", "append", "update"]);
            stores(makes && !known.has_long(&["mtime"]))
        }
        // The dates stand in the head of what they print.
        "diff" => shows(known.has_letter("uUcC") || known.has_long(&["unified", "context"])),
        "pr" => shows(words.iter().any(|word| !word.starts_with('-'))),
        "zip" | "cpio" | "pax" | "jar" | "7z" | "7za" | "7zr" | "lzop" | "mksquashfs" | "genisoimage"
        | "mkisofs" | "xorriso" | "dpkg-deb" => Interest::Stores,
        "ar" if known.has_letter("U") => Interest::Stores,
        // A compiled module holds the time of its source.
        name if name.starts_with("python") && packs(&known) => Interest::Stores,
        // The index holds the times of files, a commit that of the run.
        "git" if known.words.iter().any(|word| GIT.contains(word)) => Interest::Stores,
        "gzip" | "pigz" => {
            let names = words.iter().any(|word| !word.starts_with('-'));
            let undoes = known.has_letter("ndtl")
                || known.has_long(&["no-name", "decompress", "uncompress", "test", "list"]);
            stores(names && !undoes)
        }
        name if BUILDERS.contains(&name) => Interest::Builds,
        name if INDIFFERENT.contains(&name) => Interest::No,
        _ => Interest::Perhaps,
    }
}

/// Whether `ls` says more than names.
pub(crate) fn is_long_list(known: &KnownWords<'_>) -> bool {
    known.has_letter("logn") || known.has_long(&["full-time", "format=long", "format=verbose"])
}

/// Whether `stat` is told what to print.
pub(crate) fn has_format(known: &KnownWords<'_>) -> bool {
    known.has_letter("c") || known.has_long(&["format", "printf"])
}

/// Whether a module of Python (`python3 -m tarfile -c x.tar f`) stores times.
fn packs(known: &KnownWords<'_>) -> bool {
    match known.words.split_first() {
        Some((&("compileall" | "py_compile"), _)) => true,
        Some((&("tarfile" | "zipfile"), options)) => {
            options.iter().any(|word| matches!(*word, "-c" | "--create"))
        }
        _ => false,
    }
}

/// Whether a command line is that of a language in which a script may do anything with the times that it asks for.
fn runs_scripts(line: &str) -> bool {
    const LANGUAGES: [&str; 10] =
        ["python", "perl", "ruby", "node", "lua", "tclsh", "php", "Rscript", "R", "guile"];
    let first = line.split('\0').next().map(base).unwrap_or_default();
    LANGUAGES.contains(&first.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
}

/// Whether a command line is that of a `touch` that sets no other time than that of the clock.
pub(crate) fn sets_now(line: &str) -> bool {
    told(line).is_some_and(|(program, known, _)| {
        program == "touch" && !known.has_letter("drt") && !known.has_long(&["date", "reference", "time"])
    })
}

fn command_line<'a>(programs: &Programs, processes: &'a ProcessTable, program: &Program) -> &'a str {
    programs.image(program, processes).cmdline.as_deref().unwrap_or_default()
}

/// What is known of a file's time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Modified {
    /// When a job changed it last, and which.
    pub(crate) last: Option<(Timestamp, u32)>,
    /// Whether a job set its time to another than that of the clock.
    pub(crate) set: bool,
}

/// Files of which programs asked for the time.
#[derive(Debug)]
pub(crate) struct Asked {
    interests: Vec<Interest>,
    /// Whether each program runs a script.
    scripted: Vec<bool>,
    /// Whether each program is a shell.
    shells: Vec<bool>,
    /// Files with which a program did something else, of those that may compare times.
    used: HashSet<(ProgramId, PathId), RandomState>,
    asked: BTreeMap<ProgramId, Answers>,
    /// Of programs that set times, all files that they asked about.
    models: BTreeMap<ProgramId, Answers>,
}

type Answers = BTreeSet<(PathId, Modified)>;

/// What follows from it.
#[derive(Debug, Default)]
pub(crate) struct Followed {
    /// Files whose times must stay those of their last change.
    pub(crate) timed: HashSet<PathId, RandomState>,
    /// (job, job that must change its files before).
    pub(crate) needs: Vec<(u32, u32)>,
    /// Jobs to which it matters what the times of the inputs are, or when the others ran.
    pub(crate) time_dependent: BTreeSet<u32>,
    /// Jobs to which it may matter: their scripts asked about files that other jobs made, and did nothing else with them, or they compare
    /// these with inputs.
    pub(crate) perhaps_time_dependent: BTreeSet<u32>,
}

impl Asked {
    pub(crate) fn new(steps: &[Step], processes: &ProcessTable, programs: &Programs, names: &Names) -> Self {
        let line = |program| command_line(programs, processes, program);
        let mut interests: Vec<Interest> =
            programs.all.iter().map(|program| interest(line(program))).collect();
        let scripted = programs.all.iter().map(|program| runs_scripts(line(program))).collect();
        for (number, step) in steps.iter().enumerate() {
            let compiled = step.path2.get().filter(|_| step.action == JobAction::Rename);
            if let (Some(program), true) =
                (programs.of_step[number], compiled.is_some_and(|path| name(names, path).ends_with(".pyc")))
            {
                interests[program.index()] = Interest::Stores;
            }
        }
        let shells = programs
            .all
            .iter()
            .map(|program| is_shell(line(program).split('\0').next().unwrap_or_default()))
            .collect();
        let (mut used, mut models) = (HashSet::default(), BTreeMap::new());
        for (number, step) in steps.iter().enumerate() {
            let Some(program) = programs.of_step[number] else { continue };
            if step.action == JobAction::Times
                && !sets_now(command_line(programs, processes, programs.get(program)))
            {
                models.entry(program).or_insert_with(Answers::new);
            }
            let perhaps = interests[program.index()] == Interest::Perhaps;
            if perhaps
                && !matches!(
                    step.action,
                    JobAction::Stat
                        | JobAction::Look
                        | JobAction::Missing
                        | JobAction::Tried
                        | JobAction::Hindered
                        | JobAction::Seek
                        | JobAction::Close
                        | JobAction::Dup { .. }
                )
            {
                used.extend(
                    [step.path, step.path2].into_iter().filter_map(|path| Some((program, path.get()?))),
                );
            }
        }
        Self { interests, scripted, shells, used, asked: BTreeMap::new(), models }
    }

    /// Whether a program sets times to others than that of the clock.
    pub(crate) fn sets(&self, program: ProgramId) -> bool {
        self.models.contains_key(&program)
    }

    /// What is known of the time that a program gives to a file: that of the file that it asked about before, if there is one,
    /// or one with the same name in another directory.
    pub(crate) fn set(
        &self,
        program: ProgramId,
        path: PathId,
        own: Modified,
        names: &Names,
    ) -> Option<Modified> {
        let models = self.models.get(&program)?;
        let others = || models.iter().filter(|(model, modified)| *model != path && modified.last != own.last);
        let named_alike = |model: &PathId| base(name(names, *model)) == base(name(names, path));
        let one = |found: BTreeSet<Modified>| found.first().copied().filter(|_| found.len() == 1);
        let alike =
            one(others().filter(|(model, _)| named_alike(model)).map(|(_, modified)| *modified).collect());
        let last = alike.or_else(|| one(others().map(|(_, modified)| *modified).collect()));
        Some(Modified { last: last.map_or(own, |model| model).last, set: true })
    }

    /// The program asked about a file, or about a directory in which entries were made.
    pub(crate) fn ask(&mut self, program: ProgramId, path: PathId, directory: bool, modified: Modified) {
        if let Some(models) = self.models.get_mut(&program) {
            models.insert((path, modified));
        }
        let counts = match self.interests[program.index()] {
            Interest::No => false,
            Interest::Perhaps | Interest::Builds | Interest::Shows | Interest::Stores if directory => false,
            Interest::Perhaps => !self.used.contains(&(program, path)),
            Interest::Compares | Interest::Builds | Interest::Shows | Interest::Stores => true,
        };
        if counts {
            self.asked.entry(program).or_default().insert((path, modified));
        }
    }

    /// `who` is the job of each program, `starts` and `ends` are those of the jobs.
    pub(crate) fn follow(
        &self,
        programs: &Programs,
        who: &[Option<u32>],
        starts: &[Option<Timestamp>],
        ends: &[Option<Timestamp>],
        reads: impl Fn(u32, PathId) -> bool,
    ) -> Followed {
        let mut followed = Followed::default();
        followed.timed.extend(self.models.values().flatten().map(|(path, _)| *path));
        for (program, files) in &self.asked {
            let Some(job) = who[program.index()] else { continue };
            let of_others =
                files.iter().filter(|(_, modified)| modified.last.is_none_or(|(_, by)| by != job));
            let others: Vec<(PathId, Modified)> = of_others.copied().collect();
            let inputs: Vec<PathId> = others
                .iter()
                .filter(|(_, modified)| modified.last.is_none())
                .map(|(path, _)| *path)
                .collect();
            let unset = others.iter().any(|(_, modified)| modified.last.is_none() || !modified.set);
            let kept = programs.get(*program).table.get(&1).is_some_and(|output| *output != Handle::Closed);
            let depends = match self.interests[program.index()] {
                Interest::Stores => unset,
                Interest::Shows => kept && unset,
                Interest::Compares => inputs.len() > 1,
                // What it made something from was read.
                Interest::Builds => inputs.iter().filter(|path| !reads(job, **path)).count() > 1,
                Interest::Perhaps | Interest::No => false,
            };
            let is_made = |(_, modified): &(PathId, Modified)| modified.last.is_some() && !modified.set;
            let is_perhaps = self.interests[program.index()] == Interest::Perhaps;
            let compares_both = self.interests[program.index()] == Interest::Compares
                || is_perhaps && self.shells[program.index()];
            let may_use = is_perhaps && self.scripted[program.index()] || compares_both && !inputs.is_empty();
            if may_use && others.iter().any(is_made) {
                followed.perhaps_time_dependent.insert(job);
            }
            if files.len() > 1 {
                followed.timed.extend(others.iter().map(|(path, _)| *path));
            }
            let made = others.iter().filter_map(|(_, modified)| modified.last).collect();
            let (needs, at_once) = in_order(made, starts, ends);
            followed.needs.extend(needs);
            let compares = matches!(self.interests[program.index()], Interest::Compares | Interest::Builds);
            followed.time_dependent.extend((depends || compares && at_once).then_some(job));
        }
        followed
    }
}

/// Who must come after whom so that files are changed in the order of the recording, and whether some changed them while others
/// ran, so that they cannot wait for each other.
fn in_order(
    mut changes: Vec<(Timestamp, u32)>,
    starts: &[Option<Timestamp>],
    ends: &[Option<Timestamp>],
) -> (Vec<(u32, u32)>, bool) {
    changes.sort_unstable();
    let (mut needs, mut at_once) = (Vec::new(), false);
    for (index, (_, after)) in changes.iter().enumerate() {
        let Some(start) = starts[*after as usize] else { continue };
        // Who was over before this one need not be told again: the others wait for it.
        let mut horizon = None;
        for (_, before) in changes[..index].iter().rev() {
            let Some(end) = ends[*before as usize].filter(|end| *end <= start) else {
                at_once |= before != after;
                continue;
            };
            if horizon.is_some_and(|horizon| end <= horizon) {
                break;
            }
            needs.push((*after, *before));
            horizon = [horizon, starts[*before as usize]].into_iter().flatten().min();
        }
    }
    (needs, at_once)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Interest {
        interest(&line.replace(' ', "\0"))
    }

    #[test]
    fn programs_that_compare_times_are_known_by_their_options() {
        for line in [
            "find . -newer a",
            "/usr/bin/[ a -nt b ]",
            "test a -ot b",
            "ls -t",
            "ls -ltr d",
            "cp -pu a b",
            "cp --update a b",
            "rsync -a a/ b",
        ] {
            assert_eq!(of(line), Interest::Compares, "{line}");
        }
        for line in [
            "ls -l",
            "stat f",
            "stat -c %y f",
            "date -r f",
            "find . -printf %T@",
            "diff -u a b",
            "diff --unified=0 a b",
            "pr -l 20 f",
        ] {
            assert_eq!(of(line), Interest::Shows, "{line}");
        }
        for line in [
            "tar cf t d",
            "tar -czf t d",
            "gzip f",
            "zip z f",
            "busybox tar cf t d",
            "jar cf j d",
            "git -C r commit -m x",
            "python3.11 -I -m tarfile -c t d",
            "python -m compileall -q d",
            "ar rcU l.a x.o",
        ] {
            assert_eq!(of(line), Interest::Stores, "{line}");
        }
        for line in [
            "find . -name x",
            "ls d",
            "stat -c %s f",
            "cp -p a b",
            "tar xf t",
            "tar -x -f t",
            "gzip -n f",
            "rm -t",
            "test -f a",
            "diff a b",
        ] {
            assert_eq!(of(line), Interest::No, "{line}");
        }
        assert_eq!((of("python3 x.py"), of("make -s all")), (Interest::Perhaps, Interest::Builds));
        for line in ["python3 x.py -m tarfile -c t", "python3 -m tarfile -e t", "ar rc l.a x.o"] {
            assert_eq!(of(line), Interest::Perhaps, "{line}");
        }
        assert!(runs_scripts("/usr/bin/python3.11\0x.py") && runs_scripts("perl") && !runs_scripts("sh\0-c"));
    }

    #[test]
    fn changes_keep_their_order_without_telling_anybody_twice() {
        // 0 and 1 at the same time, then 2, then 3.
        let (starts, ends) = ([0, 5, 30, 50], [10, 20, 40, 60]);
        let [starts, ends] = [starts, ends].map(|all| all.map(|at| Some(Timestamp(at))));
        let changes = [9, 19, 39, 59].into_iter().zip(0..).map(|(at, job)| (Timestamp(at), job)).collect();
        assert_eq!(in_order(changes, &starts, &ends), (vec![(2, 1), (2, 0), (3, 2)], true));
    }

    #[test]
    fn touch_sets_the_time_of_the_clock_unless_it_is_told_another() {
        for now in ["touch f", "/bin/touch -c f", "touch -am --no-create f", "touch -- -d"] {
            assert!(sets_now(&now.replace(' ', "\0")), "{now:?}");
        }
        for other in [
            "touch -d 2001-01-01 f",
            "touch -cr a f",
            "touch --date=now f",
            "touch --ref=a f",
            "cp -p a b",
            "",
        ] {
            assert!(!sets_now(&other.replace(' ', "\0")), "{other:?}");
        }
    }
}
