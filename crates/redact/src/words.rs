//! What a text becomes: one function for each kind of text, the same in every table.
//!
//! A path is replaced component by component, so that directories stay directories, and a component stays only where it is one
//! of a list of public names (`place`). An argument is taken apart at punctuation and replaced piece by piece, with the
//! same hashes, so that it still names its file.

use crate::key::Key;
use crate::rules::Rules;
use crate::{name, object, place, public};
use iotrail_model::places::mpi_directory;
use iotrail_model::run_variables::variable_of_run;
use iotrail_query::generalise::generalise;
use std::borrow::Cow;
use std::collections::HashSet;

/// What separates the pieces of an argument.
const PUNCTUATION: [char; 25] = [
    '=', ':', ',', ';', '@', '"', '\'', '(', ')', '[', ']', '{', '}', '<', '>', '|', '&', '?', '*', '!', '$',
    '`', '#', '^', '%',
];
/// The longest rank that stays a number.
const RANK_DIGITS: usize = 5;

/// How texts are replaced.
#[derive(Clone, Debug)]
pub struct Words {
    rules: Rules,
    /// Without one only the rules replace.
    key: Option<Key>,
    keep_digits: bool,
    /// Public names of programs that the trail runs.
    programs: HashSet<String>,
    /// Names of known programs, and last components of paths of the system, that lie where they are public, and so stay everywhere.
    kept: HashSet<String>,
    /// The same that directories and entries of top directories have: somebody's, not the program's.
    chosen: HashSet<String>,
    /// Templates of paths whose last component is public in some and not in others, because it has more digits or is on no list: it goes in all,
    /// so that they still are of one template.
    mixed: HashSet<String>,
    /// Components of the trail's paths in which there is punctuation: an argument is not taken apart there.
    odd: HashSet<String>,
}

impl Words {
    /// By rules, then, with a key, by hashing what is left.
    #[must_use]
    pub fn new(rules: Rules, key: Option<Key>) -> Self {
        Self {
            rules,
            key,
            keep_digits: false,
            programs: HashSet::new(),
            kept: HashSet::new(),
            chosen: HashSet::new(),
            mixed: HashSet::new(),
            odd: HashSet::new(),
        }
    }

    /// Lets runs of digits in names stay, so that `part_0001` and `part_0002` stay in order.
    #[must_use]
    pub const fn keep_digits(mut self, keep: bool) -> Self {
        self.keep_digits = keep;
        self
    }

    /// Lets the base names of those of the paths stay that are well-known programs: `make` is as public as `/usr/bin/make`.
    #[must_use]
    pub fn with_programs<'a>(mut self, paths: impl Iterator<Item = &'a str>) -> Self {
        let names = paths.filter_map(|path| path.rsplit('/').next()).filter(|name| public::is_program(name));
        self.programs.extend(names.map(str::to_owned));
        self
    }

    /// Lets arguments that name one of the paths do so afterwards, whatever punctuation is in it, and lets the name of a known
    /// program be the same in all directories where programs may lie: who looks for `sh` in a search path looks for one name.
    #[must_use]
    pub fn with_paths<'a>(mut self, paths: impl Iterator<Item = &'a str>) -> Self {
        let (mut public, mut private, mut chosen) = (HashSet::new(), HashSet::new(), HashSet::new());
        let mut last = HashSet::new();
        let mut templates = [HashSet::new(), HashSet::new()];
        for path in paths {
            let components = path.split('/');
            self.odd.extend(components.filter(|name| name.contains(PUNCTUATION)).map(str::to_owned));
            let Some(below) = path.strip_prefix('/') else { continue };
            let mut at = 0;
            for_each_component(below, |parent, name| {
                at += name.len() + 1;
                let is_public = place::is_public(parent, name);
                let names = if is_public { &mut public } else { &mut private };
                names.insert(name);
                if is_public && at > below.len() {
                    last.insert(name);
                }
                if has_digits(name) {
                    templates[usize::from(is_public)].insert(template(parent, name));
                }
                // Directories, and what lies in those for users, are called as somebody wished.
                if !is_public && (at <= below.len() || parent.matches('/').count() < 2) {
                    chosen.insert(name);
                }
            });
        }
        let is_of_system = |name: &&str| public::is_program(name) || last.contains(*name);
        chosen.retain(is_of_system);
        public.retain(|name| is_of_system(name) && !chosen.contains(name));
        self.chosen.extend(chosen.into_iter().map(str::to_owned));
        // Names with numbers are told apart by templates, in which all of a kind must be alike.
        let hashed: HashSet<Cow<'_, str>> =
            private.difference(&public).map(|name| generalise(name)).collect();
        public.retain(|name| !has_digits(name) || !hashed.contains(&generalise(name)));
        self.kept.extend(public.into_iter().map(str::to_owned));
        let [private, public] = templates;
        self.mixed.extend(private.into_iter().filter(|template| public.contains(template)));
        self
    }

    /// Whether a component of a path stays where it is.
    fn is_public(&self, parent: &str, name: &str) -> bool {
        let is_mixed =
            || !self.mixed.is_empty() && has_digits(name) && self.mixed.contains(&template(parent, name));
        place::is_public(parent, name) && !is_mixed()
    }

    /// A path, or what stands for one (`pipe:[7]`, `TCP:[…]`).
    #[must_use]
    pub fn path(&self, path: &str) -> String {
        let keeps = |path: &str| self.rules.keeps(path) && !climbs(path);
        if keeps(path) {
            return path.to_owned();
        }
        let path = self.rules.path(path);
        if self.key.is_none() || keeps(&path) {
            return path.into_owned();
        }
        object::redacted(&path, &|name| self.component(name)).unwrap_or_else(|| self.components(&path))
    }

    /// The redacted name of a host.
    #[must_use]
    pub fn host(&self, host: &str) -> String {
        let host = self.rules.host(host);
        match &self.key {
            Some(key) if !matches!(&*host, "localhost" | "") => format!("host-{}", key.letters(&host)),
            _ => host.into_owned(),
        }
    }

    /// A command line, arguments separated by NUL.
    #[must_use]
    pub fn command(&self, cmdline: &str) -> String {
        cmdline.split('\0').map(|word| self.word(word)).collect::<Vec<_>>().join("\0")
    }

    /// The command line of one of these processes as it is for reading, with blanks between its words; of any other, of which nobody can say where a
    /// word ends, all behind the first word is one.
    #[must_use]
    pub fn sentence<'a>(&self, line: &str, mut processes: impl Iterator<Item = &'a str>) -> String {
        let readable = |cmdline: &str| cmdline.trim_end_matches('\0').replace('\0', " ");
        match processes.find(|cmdline| readable(cmdline) == line) {
            Some(cmdline) => readable(&self.command(cmdline)),
            None => {
                let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
                format!("{} {}", self.word(first), self.text(rest)).trim_end().to_owned()
            }
        }
    }

    /// `NAME=value`: a name that launchers and shells use stays.
    #[must_use]
    pub fn variable(&self, entry: &str) -> String {
        let Some((name, value)) = entry.split_once('=') else { return self.word(entry) };
        let name = match &self.key {
            Some(key) if !public::is_variable(name) => {
                let beginning = variable_of_run(name).unwrap_or_default();
                let rest = key.letters(&name[beginning.len()..]).to_ascii_uppercase();
                format!("{beginning}{rest}")
            }
            _ => name.to_owned(),
        };
        format!("{name}={}", self.word(value))
    }

    /// One word of a command line.
    #[must_use]
    pub fn word(&self, word: &str) -> String {
        let word = self.rules.argument(word);
        let word = if word.starts_with('/') { Cow::Owned(self.rules.path(&word).into_owned()) } else { word };
        if self.key.is_none() || self.keeps(&word) || self.is_known(&word) {
            return word.into_owned();
        }
        if let Some(option) = word.strip_prefix("--") {
            let (name, value) =
                option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
            let name = if name.is_empty() || public::is_option_name(name) {
                name.to_owned()
            } else {
                self.component(name)
            };
            return format!(
                "--{name}{}",
                value.map(|value| format!("={}", self.value(value))).unwrap_or_default()
            );
        }
        match word.strip_prefix('-').map(|rest| rest.split_at_checked(1)) {
            Some(Some((letter, value))) if letter.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                format!("-{letter}{}", self.value(value))
            }
            Some(_) => format!("-{}", self.value(&word[1..])),
            None => self.value(&word),
        }
    }

    /// Any other text: all of it.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        let text = self.rules.argument(text);
        match &self.key {
            Some(key) if !text.is_empty() => key.letters(&text),
            _ => text.into_owned(),
        }
    }

    /// A rank: a small number stays.
    #[must_use]
    pub fn rank(&self, rank: &str) -> String {
        if rank.len() <= RANK_DIGITS && public::is_number(rank) { rank.to_owned() } else { self.text(rank) }
    }

    /// Whether a word, or a piece of one, is a path that stays, and nothing else: no list, no sentence, and nothing that climbs out of it.
    fn keeps(&self, word: &str) -> bool {
        let is_plain = |component: &str| {
            let has_more = |c: char| c.is_whitespace() || c.is_control() || PUNCTUATION.contains(&c);
            !component.contains(has_more) || self.odd.contains(component)
        };
        self.rules.keeps(word) && !climbs(word) && word.split('/').all(is_plain)
    }

    /// An argument, or what it says of an option.
    fn value(&self, text: &str) -> String {
        if public::is_short_number(text) {
            return text.to_owned();
        }
        // Words of a sentence would be a cipher that frequencies break.
        let is_sentence = text.contains(|c: char| c.is_whitespace() || c.is_control());
        if is_sentence || text.split('/').any(|component| self.odd.contains(component)) {
            return self.components(text);
        }
        let mut out = String::with_capacity(text.len());
        for piece in text.split_inclusive(PUNCTUATION) {
            let bare = piece.strip_suffix(PUNCTUATION).unwrap_or(piece);
            out.push_str(&if self.keeps(bare) { bare.to_owned() } else { self.components(bare) });
            out.push_str(&piece[bare.len()..]);
        }
        out
    }

    /// A path, component by component.
    fn components(&self, path: &str) -> String {
        let Some(below) = path.strip_prefix('/') else {
            return path.split('/').map(|component| self.component(component)).collect::<Vec<_>>().join("/");
        };
        let mut out = String::with_capacity(path.len());
        for_each_component(below, |parent, component| {
            out.push('/');
            if parent.ends_with("/map_files") && component.contains('-') {
                out.push_str(&self.range(component));
            } else if self.is_public(parent, component) {
                out.push_str(component);
            } else {
                out.push_str(place::device(parent, component));
                out.push_str(&self.component(component));
            }
        });
        out
    }

    /// Whether it is a name of a program or of the system that is as public here as where it lies.
    fn is_known(&self, name: &str) -> bool {
        let is_program = || !has_digits(name) && self.programs.contains(name) && !self.chosen.contains(name);
        self.kept.contains(name) || is_program()
    }

    /// One component of a path, wherever it is.
    fn component(&self, component: &str) -> String {
        let Some(key) = &self.key else { return component.to_owned() };
        if matches!(component, "" | "." | "..") || public::is_anywhere(component) || self.is_known(component)
        {
            return component.to_owned();
        }
        let hashed = name::hashed(key, component, self.keep_digits);
        // Analyses leave out what an MPI library keeps for itself.
        match mpi_directory(component).filter(|_| !self.chosen.contains(component)) {
            Some(prefix) if component == prefix => prefix.to_owned(),
            Some(prefix) => format!("{prefix}{hashed}"),
            None => hashed,
        }
    }

    /// `7f00-7f01`: where something is mapped.
    fn range(&self, range: &str) -> String {
        self.key.as_ref().map_or_else(|| range.to_owned(), |key| format!("{}-0", key.number(range, 16)))
    }
}

/// Each component of an absolute path, given without the slash that it begins with, and the directory in which it is looked for.
fn for_each_component<'a>(below: &'a str, mut each: impl FnMut(&str, &'a str)) {
    let mut parent = String::with_capacity(below.len());
    for component in below.split('/') {
        each(&parent, component);
        parent.push('/');
        parent.push_str(component);
        if place::is_door(&parent) {
            parent.clear();
        }
    }
}

/// Whether a path leads out of a directory that it goes through.
fn climbs(path: &str) -> bool {
    path.split('/').any(|component| component == "..")
}

/// What a component of a path has in common with those that differ in numbers.
fn template(parent: &str, name: &str) -> String {
    generalise(&format!("{parent}/{name}")).into_owned()
}

fn has_digits(name: &str) -> bool {
    name.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::canonical::canonical;
    use iotrail_query::preset::extension;

    fn words() -> Words {
        Words::new(Rules::default(), Some(Key::of(b"sixteen bytes or").unwrap()))
    }

    #[test]
    fn directories_of_mpi_stay_what_they_are_without_the_host() {
        let path = words().path("/tmp/ompi.quokka7.1000/pid.5/x");
        let name = path.split('/').nth(2).unwrap();
        assert!(name.starts_with("ompi.") && !name.contains("quokka"), "{path}");
    }

    #[test]
    fn a_path_keeps_its_shape_and_an_argument_still_names_its_file() {
        let words = words();
        let path = words.path("/home/ada/p/run_01.fits");
        let parts: Vec<&str> = path.split('/').collect();
        assert_eq!((parts[1], parts.len()), ("home", 5));
        assert!(path.ends_with(".fits") && !path.contains("ada") && !path.contains("run"));
        assert_eq!(words.word("--input=/home/ada/p/run_01.fits"), format!("--input={path}"));
        assert_eq!(words.word("-I/home/ada/p/run_01.fits"), format!("-I{path}"));
        assert!(words.word("ada@host:/home/ada/p/run_01.fits").ends_with(&format!(":{path}")));
        assert_eq!(words.word("run_01.fits"), parts[4]);
        assert_eq!(words.command("mAdd\0-p\0run_01.fits\0").split('\0').nth(2), Some(parts[4]));
        assert_eq!(words.path("/home/ada"), path.rsplitn(3, '/').nth(2).unwrap());
        let words = words.with_paths(["/home/ada/a,b c.x"].into_iter());
        assert!(words.path("/home/ada/a,b c.x").ends_with(&format!("/{}", words.word("a,b c.x"))));
    }

    #[test]
    fn what_is_public_stays() {
        let words = words();
        for path in [
            "/usr/lib/x86_64-linux-gnu/libc.so.6",
            "/usr/lib/python3.11/encodings/utf_8.py",
            "/",
            "/dev/null",
            "/dev/pts/7",
            "/etc/passwd",
            "/proc/self/maps",
            "/proc/self/fd/3",
            "/sys/devices/system/cpu/online",
            "/usr/bin/make",
            "/tmp",
            "/var/tmp",
            "pipe:[7]",
            "pipe",
            "socket",
            "anon_inode:[eventfd]",
            "net:[4026531840]",
            "/mnt:[4026532265]",
        ] {
            assert_eq!(words.path(path), path);
        }
        for word in ["-j2", "--name", "125", "-5", "-", "--", "/usr/bin/env"] {
            assert_eq!(words.word(word), word);
        }
        assert_eq!(words.variable("OMP_NUM_THREADS=77"), "OMP_NUM_THREADS=77");
    }

    #[test]
    fn a_name_that_is_public_somewhere_is_the_same_name_everywhere() {
        let searched = ["/home/ada/quokka/sh", "/usr/bin/sh", "/usr/bin/python3.11", "/home/ada/python3.11"];
        let words = words().with_paths(searched.into_iter());
        for path in searched {
            assert_eq!(words.path(path).rsplit('/').next(), path.rsplit('/').next());
            assert!(!words.path(path).contains("ada") && !words.path(path).contains("quokka"));
        }
    }

    #[test]
    fn a_directory_that_is_called_like_a_program_is_hashed() {
        let paths = [
            "/usr/bin/postgres",
            "/home/postgres/thesis",
            "/usr/bin/git",
            "/srv/git",
            "/etc/private/x",
            "/home/ada/private",
        ];
        let words = words()
            .with_programs(["/usr/bin/postgres", "/usr/bin/git"].into_iter())
            .with_paths(paths.into_iter());
        for path in ["/home/postgres/thesis", "/srv/git", "/home/ada/private", "/home/postgres"] {
            let redacted = words.path(path);
            assert!(
                !["postgres", "git", "private", "ada"].iter().any(|name| redacted.contains(name)),
                "{redacted}"
            );
        }
        assert_eq!(words.path("/usr/bin/postgres"), "/usr/bin/postgres");
    }

    #[test]
    fn names_of_one_template_stay_or_go_together() {
        let words = words()
            .with_paths(["/usr/bin/python3.11", "/home/ada/python3.11", "/home/ada/python4.12"].into_iter());
        let (one, other) = (words.path("/home/ada/python3.11"), words.path("/home/ada/python4.12"));
        assert!(!one.contains("python") && !other.contains("python"));
        assert_eq!(generalise(&one), generalise(&other));
    }

    #[test]
    fn names_of_the_system_that_differ_in_numbers_stay_or_go_together() {
        let pairs = [
            ["/dev/dri/card0", "/dev/dri/card1"],
            ["/dev/infiniband/uverbs0", "/dev/infiniband/uverbs1"],
            ["/sys/devices/system/cpu/cpu12", "/sys/devices/system/cpu/cpu1234"],
            ["/dev/loop7", "/dev/loop1234"],
            ["/dev/nvme0n1", "/dev/nvme1000n1"],
            ["/proc/self/fd/3", "/proc/self/fd/1234"],
            ["/home/u/.pyenv/lib/python3.11/a.so", "/home/u/.pyenv/lib/python3.1111/a.so"],
        ];
        for pair in pairs {
            let words = words().with_paths(pair.into_iter());
            let [one, other] = pair.map(|path| words.path(path));
            assert_eq!(generalise(&one), generalise(&other), "{one} {other}");
            assert_ne!(one, other);
        }
        let alike = ["/dev/loop7", "/dev/loop8", "/dev/tty1"];
        let words = words().with_paths(alike.into_iter());
        assert_eq!(alike.map(|path| words.path(path)), alike);
    }

    #[test]
    fn addresses_and_dates_are_no_versions() {
        for path in [
            "/etc/openvpn/10.8.0.1",
            "/sys/class/net/10.9.3.7",
            "/usr/share/8.8.4.4",
            "/proc/sys/net/1.2.3.44",
            "/etc/26.11.30",
            "/home/x/libm.so.10.8.0.8",
            "/home/x/lib/python10.8.0.6",
            "/usr/bin/gcc-10.8.0.7",
        ] {
            let name = path.rsplit('/').next().unwrap();
            let numbers = name.trim_start_matches(|c: char| !c.is_ascii_digit());
            let numbers = numbers.strip_prefix("3.").unwrap_or(numbers);
            assert!(!words().path(path).contains(numbers), "{}", words().path(path));
        }
        let versions = ["/usr/lib/gcc/x86_64-linux-gnu/12", "/usr/lib/x86_64-linux-gnu/libm.so.6.0.30"];
        assert_eq!(versions.map(|path| words().path(path)), versions);
    }

    #[test]
    fn names_hide_nowhere() {
        let words = words().with_programs(["/usr/bin/quokka", "/usr/bin/make"].into_iter());
        for path in [
            "/usr/../home/quokka",
            "/usr/../etc/quokka",
            "/dev/shm/quokka",
            "/dev/sdquokka",
            "/usr/local/quokka",
            "/usr/bin/quokka",
            "/usr/lib/libquokka.so.6",
            "/usr/share/quokka/x",
            "/etc/quokka.conf",
            "/etc/sudoers.d/quokka",
            "/proc/self/root/home/quokka/x",
            "/proc/self/cwd/quokka",
            "/proc/77/root/quokka",
            "/proc/self/task/5/root/tmp/quokka",
            "/proc/self/fd/5/quokka",
            "/proc/quokka",
            "/proc/sys/quokka",
            "/sys/class/net/quokka",
            "UNIX-STREAM:[7->\"/run/quokka\"]",
            "UNIX:[->@\"quokka\"]",
            "QUOKKA:[quokka]",
            "quokka:[7]",
            "anon_inode:[quokka]",
            "anon_inode:quokka",
            "memfd:quokka",
            "/memfd:quokka (deleted)",
            "/home/john.quokka",
            "/home/.quokka",
            "quokka",
        ] {
            let seen = words.path(path);
            assert!(!seen.to_lowercase().contains("quokka"), "{path}: {seen}");
            let seen = words.word(path);
            assert!(!seen.to_lowercase().contains("quokka"), "{path}: {seen}");
        }
        for word in [
            "--token=quokka",
            "--quokka",
            "--quokka=1",
            "-pquokka",
            "-quokka",
            "-Iquokka",
            "a,quokka",
            "quokka@host:x",
            "https://u:quokka@h.quokka/quokka?quokka=quokka#quokka",
            "'quokka'",
            "$quokka",
            "text of quokka\nand quokka",
            "quokka make",
        ] {
            let seen = words.word(word);
            assert!(!seen.contains("quokka"), "{seen}");
            assert!(!words.sentence(word, std::iter::empty()).contains("quokka"));
        }
        assert!(
            !words.variable("QUOKKA=1").contains("QUOKKA")
                && !words.variable("HOME=/quokka").contains("quokka")
        );
        let of_run = words.variable("SLURM_QUOKKA=1");
        assert!(of_run.starts_with("SLURM_") && !of_run.contains("QUOKKA"), "{of_run}");
        assert!(!words.sentence("sh -c 'echo quokka'", std::iter::empty()).contains("quokka"));
        let of_run = words.sentence("sh -c ls -l 12 05 87", ["sh\0-c\0ls -l 12 05 87\0"].into_iter());
        assert!(of_run.contains(" -c ") && !of_run.contains("12 05") && !of_run.contains("-l"), "{of_run}");
        let unknown = words.sentence("sh -c ls -l 12 05 87", ["sh\0-c\0ls"].into_iter());
        assert!(!unknown.contains("-c") && !unknown.contains("12 05"), "{unknown}");
        assert_eq!(words.command("make\0-j2"), "make\0-j2");
    }

    #[test]
    fn what_is_kept_is_a_path_and_nothing_behind_it() {
        let rules = Rules::default().keep(&["/scratch/public/**".to_owned()]).unwrap();
        let words = Words::new(rules, Some(Key::of(b"sixteen bytes or").unwrap()))
            .with_paths(["/scratch/public/a=1/x"].into_iter());
        for word in ["/scratch/public/x", "--data=/scratch/public/x", "/scratch/public/a=1/x"] {
            assert_eq!(words.word(word), word);
        }
        assert_eq!(words.variable("PATH=/scratch/public/lib:/usr/bin"), "PATH=/scratch/public/lib:/usr/bin");
        assert!(!words.path("/scratch/public/none/../../home/quokka").contains("quokka"));
        for word in [
            "/scratch/public/d:/home/quokka",
            "/scratch/public/../../home/quokka",
            "--mount=/scratch/public/../../home/quokka",
            "/scratch/public/a=/home/quokka",
            "/scratch/public/run.sh --token quokka > /home/quokka/out",
            "/scratch/public/d,/home/quokka",
        ] {
            assert!(!words.word(word).contains("quokka"), "{}", words.word(word));
        }
    }

    #[test]
    fn numbers_and_addresses_are_hidden() {
        let words = words();
        for secret in ["4071234567", "192.168.17.5", "2001:db8:0:17::5", "fe80::1ff:fe23:4567:890a"] {
            for text in [
                format!("/data/{secret}"),
                format!("/data/{secret}/x"),
                format!("/data/run_{secret}.dat"),
                format!("/proc/{secret}/stat"),
                format!("TCP:[{secret}:80]"),
                format!("TCPv6:[[{secret}]:80]"),
                format!("--id={secret}"),
                format!("-n{secret}"),
                secret.to_owned(),
            ] {
                for seen in [words.path(&text), words.word(&text), words.variable(&format!("HOME={text}"))] {
                    let digits =
                        |text: &str| text.chars().filter(char::is_ascii_alphanumeric).collect::<String>();
                    assert!(!digits(&seen).contains(&digits(secret)), "{text}: {seen}");
                }
            }
        }
        assert_eq!(words.rank("17"), "17");
        assert_ne!(words.rank("1234567"), "1234567");
    }

    #[test]
    fn what_is_no_file_stays_alike() {
        let words = words();
        for path in [
            "TCP:[7->127.0.0.1:80]",
            "UNIX-STREAM:[7->\"/run/x\"]",
            "NETLINK:[ROUTE:77]",
            "pipe:[7]",
            "pidfd:[77]",
            "signalfd:[HUP]",
            "memfd:x (deleted)",
            "/proc/4711/task/4712/stat",
            "/proc/4711/map_files/7f00-7f01",
            "/proc/self/fdinfo/4711",
            "/dev/fd/4711",
        ] {
            let (before, after) = (canonical(path), words.path(path));
            let kind =
                |name: &str| name.strip_prefix("memfd:").map_or(name.to_owned(), |_| "memfd".to_owned());
            assert_eq!(kind(&before), kind(&canonical(&after)), "{path}: {after}");
        }
    }

    #[test]
    fn digits_stay_if_they_may() {
        let words = words().keep_digits(true);
        let (one, two) = (words.path("part_0001.x"), words.path("part_0002.x"));
        assert_eq!(one.replace("0001", "0002"), two);
        assert_ne!(words.path("a1b2"), words.path("a12b"));
    }

    #[test]
    fn rules_come_first_and_are_all_there_is_without_a_key() {
        let rules = Rules::parse("keep=['/pub/*']\n[[path]]\nmatch='ada'\nreplace='user'").unwrap();
        let words = Words::new(rules, None);
        assert_eq!(words.path("/home/ada/x"), "/home/user/x");
        assert_eq!(words.word("/home/ada/x"), "/home/user/x");
        assert_eq!(words.path("/pub/ada"), "/pub/ada");
        assert_eq!(words.host("n1"), "n1");
    }

    proptest::proptest! {
        #[test]
        fn different_names_stay_different(a in "[a-c./0-9]{0,12}", b in "[a-c./0-9]{0,12}") {
            let words = words();
            proptest::prop_assert_eq!(a == b, words.path(&a) == words.path(&b));
            proptest::prop_assert_eq!(extension(&a).is_some(), extension(&words.path(&a)).is_some());
            let words = words.keep_digits(true);
            proptest::prop_assert_eq!(a == b, words.path(&a) == words.path(&b));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,40}") {
            let words = words();
            let _ = (words.path(&text), words.word(&text), words.host(&text), words.variable(&text), words.sentence(&text, [&*text].into_iter()));
        }
    }
}
