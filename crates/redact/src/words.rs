//! What a text becomes: one function for each kind of text, the same in every table.
//!
//! A path is hashed component by component, so that directories stay directories; its ending (`.fits`) stays. Paths of the
//! system stay. A word of a command line is taken apart at `=`, `:`, `,` and `/` and hashed piece by piece, with the same
//! hashes, so that an argument and the file that it names still match; options (`-j2`, `--name`) and numbers stay.

use crate::key::Key;
use crate::rules::Rules;
use std::borrow::Cow;
use std::collections::HashSet;

/// Directories whose content is that of every machine.
const PUBLIC: [&str; 12] = [
    "/bin/", "/boot/", "/dev/", "/etc/", "/lib/", "/lib32/", "/lib64/", "/proc/", "/sbin/", "/sys/", "/usr/",
    "/opt/",
];
/// Directories beneath them whose content is the user's own.
const PRIVATE: [&str; 4] = ["/dev/shm/", "/dev/mqueue/", "/usr/local/", "/opt/"];
/// Directories of users and of sites: their own names tell nothing.
const KNOWN: [&str; 12] =
    ["tmp", "home", "root", "var", "run", "scratch", "work", "data", "mnt", "media", "srv", "users"];
/// Endings longer than this may be names.
const LONGEST_ENDING: usize = 8;

/// How texts are replaced.
#[derive(Clone, Debug)]
pub struct Words {
    rules: Rules,
    /// Without one only the rules replace.
    key: Option<Key>,
    keep_digits: bool,
    /// Names that tell nothing: those of programs of the system.
    public: HashSet<String>,
}

impl Words {
    /// By rules, then, with a key, by hashing what is left.
    #[must_use]
    pub fn new(rules: Rules, key: Option<Key>) -> Self {
        Self { rules, key, keep_digits: false, public: HashSet::new() }
    }

    /// Lets runs of digits in names stay, so that `part_0001` and `part_0002` stay alike.
    #[must_use]
    pub const fn keep_digits(mut self, keep: bool) -> Self {
        self.keep_digits = keep;
        self
    }

    /// Lets the base names of those of the paths stay that are of the system: `make` is as public as `/usr/bin/make`.
    #[must_use]
    pub fn with_programs<'a>(mut self, paths: impl Iterator<Item = &'a str>) -> Self {
        let names = paths.filter(|path| is_public(path)).filter_map(|path| path.rsplit('/').next());
        self.public.extend(names.map(str::to_owned));
        self
    }

    /// A path, or what stands for one (`pipe:[7]`, `TCP:[…]`).
    #[must_use]
    pub fn path(&self, path: &str) -> String {
        if self.rules.keeps(path) {
            return path.to_owned();
        }
        let path = self.rules.path(path);
        if self.key.is_none() || is_public(&path) || self.rules.keeps(&path) {
            return path.into_owned();
        }
        if is_number_of_kernel(&path) {
            return path.into_owned();
        }
        self.components(&path)
    }

    /// A host.
    #[must_use]
    pub fn host(&self, host: &str) -> String {
        let host = self.rules.host(host);
        if matches!(&*host, "localhost" | "") { host.into_owned() } else { self.hashed("host-", &host) }
    }

    /// A command line, arguments separated by NUL.
    #[must_use]
    pub fn command(&self, cmdline: &str) -> String {
        cmdline.split('\0').map(|word| self.word(word)).collect::<Vec<_>>().join("\0")
    }

    /// A command line for reading, words separated by blanks.
    #[must_use]
    pub fn sentence(&self, line: &str) -> String {
        line.split(' ').map(|word| self.word(word)).collect::<Vec<_>>().join(" ")
    }

    /// `NAME=value`: the name stays.
    #[must_use]
    pub fn variable(&self, entry: &str) -> String {
        match entry.split_once('=') {
            Some((name, value)) => format!("{name}={}", self.word(value)),
            None => self.word(entry),
        }
    }

    /// One word of a command line.
    #[must_use]
    pub fn word(&self, word: &str) -> String {
        let word = self.rules.argument(word);
        let word = if word.starts_with('/') { Cow::Owned(self.rules.path(&word).into_owned()) } else { word };
        if self.key.is_none() || self.rules.keeps(&word) || is_public(&word) || is_option(&word) {
            return word.into_owned();
        }
        let mut out = String::with_capacity(word.len());
        for piece in word.split_inclusive(['=', ':', ',']) {
            let (text, end) = match piece.chars().next_back() {
                Some(end @ ('=' | ':' | ',')) => (&piece[..piece.len() - 1], Some(end)),
                _ => (piece, None),
            };
            let stays = is_option(text) || is_number(text) || is_public(text) || self.rules.keeps(text);
            out.push_str(&if stays { text.to_owned() } else { self.components(text) });
            out.extend(end);
        }
        out
    }

    /// Any other text: all of it.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        let text = self.rules.argument(text);
        if is_number(&text) { text.into_owned() } else { self.hashed("", &text) }
    }

    fn components(&self, path: &str) -> String {
        let components: Vec<String> = path.split('/').map(|component| self.component(component)).collect();
        components.join("/")
    }

    fn component(&self, component: &str) -> String {
        let Some(key) = &self.key else { return component.to_owned() };
        if matches!(component, "" | "." | "..")
            || KNOWN.contains(&component)
            || is_number(component)
            || self.public.contains(component)
        {
            return component.to_owned();
        }
        let (stem, ending) = match component.rfind('.') {
            Some(dot) if dot > 0 && is_ending(&component[dot..]) => component.split_at(dot),
            _ => (component, ""),
        };
        let hash = key.hash(&if self.keep_digits { without_digits(stem) } else { stem.to_owned() });
        let digits = if self.keep_digits { digit_runs(stem) } else { String::new() };
        format!("{hash}{digits}{ending}")
    }

    fn hashed(&self, prefix: &str, text: &str) -> String {
        match &self.key {
            Some(key) if !text.is_empty() => format!("{prefix}{}", key.hash(text)),
            _ => text.to_owned(),
        }
    }
}

/// Whether a path is the same on every machine of its kind.
fn is_public(path: &str) -> bool {
    let within = |directories: &[&str]| {
        directories
            .iter()
            .any(|directory| path.starts_with(directory) || path == directory.trim_end_matches('/'))
    };
    path == "/" || within(&PUBLIC) && !within(&PRIVATE) && !path.split('/').any(|part| part == "..")
}

/// `pipe:[7]`, `socket:[9]`, `anon_inode:[eventfd]`: nothing but the kernel's own words and numbers.
fn is_number_of_kernel(name: &str) -> bool {
    let inside = |prefix: &str| name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(']'));
    ["pipe:[", "socket:["].iter().any(|prefix| inside(prefix).is_some_and(is_number))
        || inside("anon_inode:[")
            .is_some_and(|kind| kind.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'))
}

/// `-x`, `-j2`, `--name`: the words of a program, not of its user.
fn is_option(word: &str) -> bool {
    let name = word.trim_start_matches('-');
    let dashes = word.len() - name.len();
    match dashes {
        1 => name.len() <= 3 && name.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        2 => name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-') && name.len() <= 32,
        _ => false,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.' || byte == b'-')
}

/// `.fits`, `.tar`: short, of letters and digits, not only digits.
fn is_ending(text: &str) -> bool {
    let name = &text[1..];
    (1..=LONGEST_ENDING).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && name.bytes().any(|byte| byte.is_ascii_alphabetic())
}

fn without_digits(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if !character.is_ascii_digit() {
            out.push(character);
        } else if !out.ends_with('\0') {
            out.push('\0');
        }
    }
    out
}

fn digit_runs(text: &str) -> String {
    let runs = text.split(|character: char| !character.is_ascii_digit()).filter(|run| !run.is_empty());
    runs.fold(String::new(), |out, run| out + "_" + run)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words() -> Words {
        Words::new(Rules::default(), Some(Key::of(b"sixteen bytes or").unwrap()))
    }

    #[test]
    fn a_path_keeps_its_shape_and_an_argument_still_names_its_file() {
        let words = words();
        let path = words.path("/home/ada/p/run_01.fits");
        let parts: Vec<&str> = path.split('/').collect();
        assert_eq!((parts[1], parts.len()), ("home", 5));
        assert!(path.ends_with(".fits") && !path.contains("ada") && !path.contains("run"));
        assert_eq!(words.word("--in=/home/ada/p/run_01.fits"), format!("--in={path}"));
        assert_eq!(words.word("run_01.fits"), parts[4]);
        assert_eq!(words.command("mAdd\0-p\0run_01.fits\0").split('\0').nth(2), Some(parts[4]));
        assert_eq!(words.path("/home/ada"), path.rsplitn(3, '/').nth(2).unwrap());
    }

    #[test]
    fn what_is_public_stays_and_what_hides_among_it_does_not() {
        let words = words();
        for path in
            ["/usr/lib/libc.so.6", "/", "/dev/null", "/proc/self/maps", "pipe:[7]", "anon_inode:[eventfd]"]
        {
            assert_eq!(words.path(path), path);
        }
        for path in [
            "/usr/../home/ada",
            "/dev/shm/ada",
            "/usr/local/ada",
            "TCP:[10.1.2.3:80]",
            "anon_inode:[ADA]",
            "ada",
        ] {
            let seen = words.path(path);
            assert!(
                seen != path && !seen.contains("ada") && !seen.contains("ADA") && !seen.contains("10.1"),
                "{seen}"
            );
        }
        for word in ["-j2", "--name", "12.5", "-5", "/usr/bin/env"] {
            assert_eq!(words.word(word), word);
        }
        assert!(!words.word("--token=abc").contains("abc"));
        assert!(!words.word("-pSecret").contains("Secret"));
        assert_eq!(words.variable("JOB=77"), "JOB=77");
        assert!(!words.variable("KEY=abc").contains("abc"));
    }

    #[test]
    fn programs_of_the_system_keep_their_names() {
        let words = words().with_programs(["/usr/bin/make", "/home/ada/secret"].into_iter());
        assert_eq!(words.command("make\0-j2"), "make\0-j2");
        assert!(!words.command("secret").contains("secret"));
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
            let words = words.keep_digits(true);
            proptest::prop_assert_eq!(a == b, words.path(&a) == words.path(&b));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,40}") {
            let words = words();
            let _ = (words.path(&text), words.word(&text), words.host(&text), words.variable(&text));
        }
    }
}
