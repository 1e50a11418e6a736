//! Which calls a recording follows.
//!
//! Two sets: the calls whose events are wanted, and those at which threads stop. The second is larger, because a file
//! is known by what opened, copied and closed its descriptor, and an offset by what moved the cursor.

mod conditions;
mod description;
mod groups;
mod needs;
mod words;

use super::entry::Entry;
use super::numbers::{self, X32_BIT};
use super::plan::{Multiplexer, Plan};
use crate::Abi;
pub use conditions::Condition;
use iotrail_model::calls::{Family, Group, TABLE};
use iotrail_model::recording_coverage::Selection;
use iotrail_model::{CallId, Note};
pub use words::UnknownCall;

/// Calls chosen by the user, and those that must be followed to name what the chosen ones act on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallSet {
    words: String,
    /// By row of the call table: whether its events are wanted.
    chosen: Vec<bool>,
    /// By row of the call table: whether threads stop at it.
    followed: Vec<bool>,
    /// Whether numbers without a name are wanted.
    unnamed: bool,
    /// Whether calls are followed under all conditions.
    all: bool,
}

impl CallSet {
    /// Reads `io`, `file`, `desc`, `all`, names of families and calls, separated by commas; `!` takes out. The spellings of
    /// `strace -e` are understood: `trace=%file,read`.
    pub fn parse(words: &str) -> Result<Self, UnknownCall> {
        let words::Choice { chosen, unnamed, all } = words::read(words)?;
        let followed = needs::followed(&chosen);
        Ok(Self { words: words.to_owned(), chosen, followed, unnamed, all })
    }

    /// Whether events of this call are wanted. Others were stopped at because what they do to descriptors, directories and
    /// processes decides what the wanted ones act on: the resolver must see them, the trail not.
    #[must_use]
    pub fn contains(&self, call: CallId) -> bool {
        self.chosen.get(call.index()).copied().unwrap_or(self.unnamed)
    }

    /// [`Self::contains`] of the call of an entry.
    #[must_use]
    pub fn wants(&self, entry: &Entry) -> bool {
        entry.call().map_or(self.unnamed, |call| self.contains(call))
    }

    /// Whether numbers without a name must stop, too (calls newer than the tables).
    #[must_use]
    pub fn unnamed(&self) -> bool {
        self.unnamed
    }

    /// Whether it takes all calls, whatever they are about.
    #[must_use]
    pub const fn holds_all(&self) -> bool {
        self.all
    }

    /// The numbers that a filter must stop at, ascending; those of x32 with their bit.
    #[must_use]
    pub fn numbers(&self, abi: Abi) -> Vec<u32> {
        let bit = if abi == Abi::X32 { X32_BIT as u32 } else { 0 };
        let plans = numbers::plans(abi).iter().enumerate();
        let followed = plans.filter(|(_, plan)| plan.as_ref().is_some_and(|plan| self.follows(plan)));
        followed.map(|(number, _)| number as u32 | bit).collect()
    }

    /// Whether threads stop at a call.
    #[must_use]
    pub fn follows_call(&self, call: CallId) -> bool {
        self.followed.get(call.index()).copied().unwrap_or(self.unnamed)
    }

    fn follows(&self, plan: &Plan) -> bool {
        let any = |family| {
            TABLE.iter().zip(&self.followed).any(|(spec, followed)| *followed && spec.family == family)
        };
        match plan.multiplexer {
            Multiplexer::Socket => any(Family::Socket),
            Multiplexer::Ipc => self.all || self.chosen[plan.call.index()] || self.shares_memory(),
            _ => self.followed[plan.call.index()],
        }
    }

    /// Whether calls on System V memory are chosen.
    fn shares_memory(&self) -> bool {
        TABLE.iter().zip(&self.chosen).any(|(spec, chosen)| *chosen && spec.name.starts_with("shm"))
    }

    /// Of a number of the set, when it must stop: if any of these holds; always if there are none.
    #[must_use]
    pub fn conditions(&self, abi: Abi, number: u32) -> &'static [Condition] {
        match numbers::plan_of(abi, u64::from(number)) {
            Some(plan) if !self.all && plan.multiplexer == Multiplexer::None => {
                conditions::of(plan.call, self.contains(plan.call))
            }
            _ => &[],
        }
    }

    /// What is captured and what not, for the coverage statement, by family.
    #[must_use]
    pub fn note(&self) -> Note {
        description::note(&self.words, &self.chosen, self.all)
    }

    /// What is captured and what not, for the coverage statement, in numbers: calls of this machine's table.
    #[must_use]
    pub fn selection(&self) -> Selection {
        description::numbers(&self.words, &self.chosen)
    }
}

impl Default for CallSet {
    /// `io`.
    fn default() -> Self {
        let chosen = groups::rows(Group::Io);
        let followed = needs::followed(&chosen);
        Self { words: "io".to_owned(), chosen, followed, unnamed: true, all: false }
    }
}

impl std::fmt::Display for CallSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::calls::spec;

    fn set(words: &str) -> CallSet {
        CallSet::parse(words).unwrap()
    }

    fn chosen(words: &str) -> Vec<&'static str> {
        let set = set(words);
        (0..TABLE.len())
            .map(CallId::from_index)
            .filter(|call| set.contains(*call))
            .filter_map(|call| spec(call).map(|spec| spec.name))
            .collect()
    }

    fn contains(words: &str, name: &str) -> bool {
        chosen(words).contains(&name)
    }

    fn stops(words: &str, abi: Abi, number: u32) -> bool {
        set(words).numbers(abi).binary_search(&number).is_ok()
    }

    #[test]
    fn the_default_takes_descriptors_paths_processes_mappings_and_sync() {
        let of_io = [
            "read",
            "preadv2",
            "openat2",
            "close_range",
            "statx",
            "getdents64",
            "renameat2",
            "symlink",
            "getcwd",
            "fsync",
            "sync",
            "flock",
            "copy_file_range",
            "mmap",
            "munmap",
            "msync",
            "sendmmsg",
            "epoll_wait",
            "poll",
            "io_submit",
            "io_uring_enter",
            "io_uring_read",
            "aio_pwrite",
            "clone3",
            "execveat",
            "exit_group",
            "memfd_create",
            "name_to_handle_at",
            "mount",
            "pidfd_getfd",
            "setxattrat",
            "fork",
            "vfork",
            "truncate",
            "wait4",
            "nanosleep",
            "futex",
        ];
        let of_io = of_io.into_iter().filter(|name| !contains("io", name)).collect::<Vec<_>>();
        assert!(of_io.is_empty(), "missing: {of_io:?}");
        for name in ["brk", "getpid", "mprotect", "rt_sigaction", "getrandom", "mlock"] {
            assert!(!contains("io", name), "{name}");
        }
        assert_eq!(CallSet::default(), set("io"));
        assert_eq!(chosen("all").len(), TABLE.len());
    }

    #[test]
    fn groups_families_and_names_add_up() {
        assert!(contains("file", "openat") && contains("file", "unlink") && !contains("file", "read"));
        assert!(contains("desc", "read") && contains("desc", "openat") && !contains("desc", "unlink"));
        assert!(
            contains("data,fsync", "pread64") && contains("data,fsync", "fsync") && !contains("data", "stat")
        );
        assert!(contains("io,!lseek", "read") && !contains("io,!lseek", "lseek"));
        assert!(contains("!lseek", "read") && !contains("!lseek", "lseek"));
        assert!(contains("trace=%file,%desc", "openat") && contains("%network", "recvmsg"));
        assert!(contains("pread", "pread64"));
        assert!(!contains("io,!socket", "recvmsg") && !contains("io,!socket", "socket"));
    }

    #[test]
    fn processes_are_always_in() {
        for words in ["file", "read", "fsync,!execve"] {
            assert!(contains(words, "clone") && contains(words, "exit_group"), "{words}");
            assert!(stops(words, Abi::X86_64, 59), "{words}");
        }
        assert!(!contains("fsync,!execve", "execve"));
    }

    #[test]
    fn what_names_descriptors_is_followed_but_not_wanted() {
        let [openat, close, lseek, pread] = [257, 3, 8, 17];
        assert!(!contains("fsync", "openat") && stops("fsync", Abi::X86_64, openat));
        assert!(stops("fsync", Abi::X86_64, close) && !stops("fsync", Abi::X86_64, lseek));
        assert!(stops("read", Abi::X86_64, lseek), "the cursor decides where a read starts");
        assert!(!stops("read", Abi::X86_64, pread) && stops("io", Abi::X86_64, pread));
    }

    #[test]
    fn numbers_are_those_of_the_architecture() {
        assert!(stops("io", Abi::I386, 180) && stops("io", Abi::Aarch64, 67));
        assert!(stops("io", Abi::X32, 0x4000_0000 | 515) && !stops("io", Abi::X32, 515));
        assert!(stops("io", Abi::I386, 102), "socketcall stands for calls on sockets");
        assert!(set("io").numbers(Abi::Unknown(3)).is_empty());
        let numbers = set("all").numbers(Abi::X86_64);
        assert!(numbers.is_sorted() && numbers.len() > 350);
    }

    #[test]
    fn memory_without_a_file_and_processes_without_filters_do_not_stop() {
        let [mmap, madvise, prctl, read] = [9, 28, 157, 0];
        let conditions = |words, number| set(words).conditions(Abi::X86_64, number).to_vec();
        let file = Condition { argument: 3, mask: 0x20, value: 0, negated: false };
        let in_its_place = Condition { argument: 3, mask: 0x10, value: 0x10, negated: false };
        assert_eq!(conditions("io", mmap), [file, in_its_place]);
        assert_eq!(conditions("io", madvise).len(), 3);
        assert_eq!(conditions("io", prctl).len(), 1);
        assert_eq!(conditions("prctl", prctl), []);
        assert_eq!(conditions("all", mmap), []);
        assert_eq!(conditions("io", read), []);
        assert_eq!(set("io").conditions(Abi::I386, 90), [], "its arguments lie in memory");
    }

    #[test]
    fn unknown_words_come_with_a_hint() {
        let error = |words| CallSet::parse(words).unwrap_err().to_string();
        assert_eq!(
            error("reed"),
            "`reed` is neither a system call nor a group of them; did you mean `read`? Groups are io, file, desc, all, \
             data, metadata, descriptor, directory, memory, sync, lock, socket, process, wait, poll, async, other"
        );
        assert!(error("read,,openet").contains("did you mean `openat`?"));
        assert!(!error("xyzzyplugh").contains("did you mean"));
        assert!(error("").contains("io, file, desc"));
        assert!(error("!").contains("neither"));
    }

    #[test]
    fn the_description_says_what_is_seen_and_what_not() {
        insta::assert_snapshot!(set("io").note().to_string());
        insta::assert_snapshot!(set("all").note().to_string());
        insta::assert_snapshot!(set("read,fsync").note().to_string());
        let of_io = set("io").selection();
        assert_eq!(
            (of_io.asked.as_str(), of_io.without.into_iter().collect::<Vec<_>>()),
            ("io", Vec::<String>::new())
        );
        let without = set("io,!wait").selection().without;
        assert_eq!(without.into_iter().collect::<Vec<_>>(), ["wait"]);
        assert!(set("io").note().to_string().contains(&format!("{} of ", of_io.calls)));
    }
}
