//! The tree of paths, divided into the groups that people would name.

use std::collections::{BTreeMap, BTreeSet};

/// Groups of paths at most; names that are no paths (`pipe`) have groups of their own beside them.
const MOST_GROUPS: usize = 24;
/// The least share of the weight that makes a group.
const LEAST_SHARE: f64 = 0.02;
/// Directories of the system: groups in them have at most two components.
const SYSTEM: [&str; 8] = ["usr", "etc", "opt", "var", "proc", "sys", "dev", "bin"];
/// What stands for a run of digits in the name of a template; no name holds it.
const DIGITS: char = '\u{0}';

/// How much is done at a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Weight {
    /// Number of events.
    pub(crate) events: u64,
    /// Their I/O time.
    pub(crate) nanos: u64,
}

impl Weight {
    pub(crate) fn add(&mut self, other: Self) {
        self.events += other.events;
        self.nanos = self.nanos.saturating_add(other.nanos);
    }

    /// Half the share of the time and half that of the events.
    fn share(self, all: Self) -> f64 {
        let share = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
        match all.nanos {
            0 => share(self.events, all.events),
            _ => (share(self.nanos, all.nanos) + share(self.events, all.events)) / 2.0,
        }
    }
}

/// A component of paths, and what lies below it.
#[derive(Clone, Debug, Default)]
struct Node {
    /// With all below it.
    weight: Weight,
    /// By name, or by the form of several names that differ in digits only.
    children: BTreeMap<String, Node>,
    /// Numbers of digits in the names that were joined: by run of digits the shortest and the longest.
    digits: Vec<(usize, usize)>,
    /// Whether paths go on below it which are not told apart.
    goes_on: bool,
    is_group: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    /// By beginning: ``, `.`, `~`, `$NAME`; and names that are no paths.
    roots: BTreeMap<String, Node>,
}

impl Tree {
    /// Adds what is done at a path.
    pub(crate) fn add(&mut self, path: &str, weight: Weight) {
        let (root, components, goes_on) = split(path);
        let mut node = self.roots.entry(root.to_owned()).or_default();
        node.weight.add(weight);
        for component in components {
            node = node.children.entry(component.to_owned()).or_default();
            node.weight.add(weight);
        }
        node.goes_on |= goes_on;
    }

    /// Makes templates of names that differ in digits only, and then groups.
    pub(crate) fn divide(&mut self) {
        let mut all = Weight::default();
        for root in self.roots.values_mut() {
            root.join_templates();
            root.is_group = true;
            all.add(root.weight);
        }
        // Heaviest first; of equally heavy ones the first by name.
        let mut below = Candidates::default();
        for (name, root) in &self.roots {
            below.push(std::slice::from_ref(name), root, all);
        }
        let mut groups = self.roots.values().filter(|root| root.holds_paths()).count();
        while groups < MOST_GROUPS
            && let Some(path) = below.pop()
        {
            let Some((name, parent)) = path.split_last() else { break };
            let Some(parent) = self.node_mut(parent) else { break };
            let Some(node) = parent.children.get_mut(name) else { break };
            node.is_group = true;
            below.push(&path, node, all);
            // What a group gave away whole is no group any more.
            groups += usize::from(parent.has_rest() || parent.has_own());
        }
    }

    fn node_mut(&mut self, path: &[String]) -> Option<&mut Node> {
        let (root, rest) = path.split_first()?;
        rest.iter().try_fold(self.roots.get_mut(root)?, |node, name| node.children.get_mut(name))
    }

    /// The name of the group of a path.
    pub(crate) fn group(&self, path: &str) -> String {
        let (root, components, goes_on) = split(path);
        let mut name = root.to_owned();
        let Some(mut node) = self.roots.get(root) else {
            let deeper = !components.is_empty() || goes_on;
            return with_rest(&name, deeper);
        };
        let mut group = (name.clone(), node, !components.is_empty() || goes_on);
        for (index, component) in components.iter().enumerate() {
            let Some((shown, child)) = node.child(component) else { break };
            name.push('/');
            name.push_str(&shown);
            node = child;
            if node.is_group {
                group = (name.clone(), node, index + 1 < components.len() || goes_on);
            }
        }
        let (name, node, deeper) = group;
        with_rest(&name, deeper || node.has_rest())
    }
}

/// `dir/…` of a directory whose rest is together, else the name itself. The root of all is empty.
fn with_rest(name: &str, has_rest: bool) -> String {
    match (name, has_rest) {
        (_, true) => format!("{name}/…"),
        ("", false) => "/".to_owned(),
        _ => name.to_owned(),
    }
}

/// Where a path begins, its components, and whether it goes on below the last of them.
fn split(path: &str) -> (&str, Vec<&str>, bool) {
    let is_path = path.contains('/') || path == "." || path == "~" || path.starts_with('$');
    if !is_path {
        return (path, Vec::new(), false);
    }
    let (root, rest) = match path.split_once('/') {
        Some((root @ ("" | "." | "~"), rest)) => (root, rest),
        Some((root, rest)) if root.starts_with('$') => (root, rest),
        Some(_) => ("?", path),
        None => (path, ""),
    };
    let components: Vec<&str> = rest.split('/').filter(|component| !component.is_empty()).collect();
    let most = if is_of_system(root, components.first()) { 2 } else { usize::MAX };
    let goes_on = components.len() > most;
    (root, components.into_iter().take(most).collect(), goes_on)
}

/// Whether groups are no deeper than two components there: in trees of the system, and in hidden directories of home.
fn is_of_system(root: &str, first: Option<&&str>) -> bool {
    first.is_some_and(|first| match root {
        "" => SYSTEM.contains(first) || first.starts_with("lib"),
        "~" => first.starts_with('.'),
        _ => false,
    })
}

impl Node {
    /// The child of that name, and how it is shown.
    fn child(&self, component: &str) -> Option<(String, &Self)> {
        if let Some(child) = self.children.get(component) {
            return Some((component.to_owned(), child));
        }
        let form = form_of(component)?;
        self.children.get(&form).map(|child| (child.shown(&form), child))
    }

    /// Whether anything lies below that is in no group of its own.
    fn has_rest(&self) -> bool {
        self.goes_on || self.children.values().any(|child| !child.is_group)
    }

    /// Whether something is done at it, and not only below it.
    fn has_own(&self) -> bool {
        self.weight.events > self.children.values().map(|child| child.weight.events).sum()
    }

    /// Whether it is a beginning of paths, and no name that is none.
    fn holds_paths(&self) -> bool {
        !self.children.is_empty()
    }

    /// Joins children whose names differ in digits only, here and below.
    fn join_templates(&mut self) {
        let mut forms: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for name in self.children.keys() {
            if let Some(form) = form_of(name) {
                forms.entry(form).or_default().push(name.clone());
            }
        }
        for (form, names) in forms.into_iter().filter(|(_, names)| names.len() > 1) {
            let mut joined = Self::default();
            for name in names {
                if let Some(child) = self.children.remove(&name) {
                    joined.take(child);
                    joined.note_digits(&name);
                }
            }
            self.children.insert(form, joined);
        }
        self.children.values_mut().for_each(Self::join_templates);
    }

    fn take(&mut self, other: Self) {
        self.weight.add(other.weight);
        self.goes_on |= other.goes_on;
        for (name, child) in other.children {
            self.children.entry(name).or_default().take(child);
        }
    }

    fn note_digits(&mut self, name: &str) {
        let is_digit = |byte: &u8| byte.is_ascii_digit();
        let runs = name.as_bytes().split(|byte| !is_digit(byte)).filter(|run| !run.is_empty());
        for (index, run) in runs.enumerate() {
            match self.digits.get_mut(index) {
                Some((least, most)) => (*least, *most) = ((*least).min(run.len()), (*most).max(run.len())),
                None => self.digits.push((run.len(), run.len())),
            }
        }
    }

    /// A form with a `#` for each digit, or one where their number differs.
    fn shown(&self, form: &str) -> String {
        let mut digits = self.digits.iter();
        let mut shown = String::with_capacity(form.len() + 8);
        for character in form.chars() {
            match character {
                DIGITS => {
                    let number = digits.next().filter(|(least, most)| least == most).map_or(1, |run| run.0);
                    shown.extend(std::iter::repeat_n('#', number));
                }
                other => shown.push(other),
            }
        }
        shown
    }
}

/// A name with each run of digits replaced; none if it has no digits.
fn form_of(name: &str) -> Option<String> {
    if !name.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut form = String::with_capacity(name.len());
    for character in name.chars() {
        match character {
            '0'..='9' if form.ends_with(DIGITS) => {}
            '0'..='9' => form.push(DIGITS),
            other => form.push(other),
        }
    }
    Some(form)
}

/// Nodes that may become groups: the children of groups that weigh enough.
#[derive(Default)]
struct Candidates(BTreeSet<(std::cmp::Reverse<u64>, Vec<String>)>);

impl Candidates {
    fn push(&mut self, path: &[String], node: &Node, all: Weight) {
        for (name, child) in &node.children {
            let share = child.weight.share(all);
            if share >= LEAST_SHARE {
                let path = path.iter().chain([name]).cloned().collect();
                // Shares are positive: their bits are in the order of their values.
                self.0.insert((std::cmp::Reverse(share.to_bits()), path));
            }
        }
    }

    fn pop(&mut self) -> Option<Vec<String>> {
        self.0.pop_first().map(|(_, path)| path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tree(paths: &[(&str, u64)]) -> Tree {
        let mut tree = Tree::default();
        for &(path, events) in paths {
            tree.add(path, Weight { events, nanos: events });
        }
        tree.divide();
        tree
    }

    #[test]
    fn the_heaviest_part_below_a_group_becomes_a_group() {
        let tree = tree(&[
            ("./src/a.c", 40),
            ("./src/b.c", 1),
            ("./out.o", 30),
            ("/usr/lib/x86_64-linux-gnu/libc.so.6", 20),
            ("/usr/share/doc/x", 1),
            ("/etc/passwd", 1),
            ("pipe", 7),
        ]);
        for (path, group) in [
            ("./src/a.c", "./src/a.c"),
            ("./src/b.c", "./src/…"),
            ("./src", "./src/…"),
            ("./out.o", "./out.o"),
            ("./other", "./…"),
            ("/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/…"),
            ("/usr/lib", "/usr/lib/…"),
            ("/usr/share/doc/x", "/usr/…"),
            ("/etc/passwd", "/…"),
            ("/", "/…"),
            ("pipe", "pipe"),
            ("socket:TCP", "socket:TCP"),
            ("~/x", "~/…"),
        ] {
            assert_eq!(tree.group(path), group, "{path}");
        }
    }

    #[test]
    fn names_that_differ_in_digits_are_one_template() {
        let tree = tree(&[
            ("./out/rank-0001.dat", 10),
            ("./out/rank-0002.dat", 10),
            ("./out/sum.dat", 10),
            ("./run9/x", 10),
            ("./run10/x", 10),
            ("./log1", 10),
        ]);
        assert_eq!(tree.group("./out/rank-0001.dat"), "./out/rank-####.dat");
        assert_eq!(tree.group("./out/rank-0077.dat"), "./out/rank-####.dat");
        assert_eq!(tree.group("./run10/x"), "./run#/x");
        assert_eq!(tree.group("./log1"), "./log1", "one alone is no template");
    }

    #[test]
    fn hidden_directories_of_home_and_of_the_system_have_two_components() {
        let tree =
            tree(&[("~/.cargo/registry/src/a.rs", 50), ("~/work/deep/down/x", 50), ("$SCRATCH/a/b/c", 50)]);
        assert_eq!(tree.group("~/.cargo/registry/src/a.rs"), "~/.cargo/registry/…");
        assert_eq!(tree.group("~/work/deep/down/x"), "~/work/deep/down/x");
        assert_eq!(tree.group("$SCRATCH/a/b/c"), "$SCRATCH/a/b/c");
    }

    #[test]
    fn there_are_no_more_groups_than_a_picture_has_room_for() {
        let paths: Vec<String> = (0..40).map(|number| format!("./{}", "x".repeat(number + 1))).collect();
        let pairs: Vec<(&str, u64)> = paths.iter().map(|path| (path.as_str(), 1)).collect();
        let tree = tree(&pairs);
        let groups: BTreeSet<String> = paths.iter().map(|path| tree.group(path)).collect();
        assert_eq!(groups.len(), MOST_GROUPS);
    }

    proptest! {
        #[test]
        fn each_path_is_in_a_group_whose_name_it_begins_with_and_the_order_of_paths_does_not_matter(
            mut paths in prop::collection::vec(("(\\./|~/|/)([ab12]{1,2}/){0,3}[ab12]{1,2}", 1..50_u64), 1..40)
        ) {
            let pairs: Vec<(&str, u64)> = paths.iter().map(|(path, events)| (path.as_str(), *events)).collect();
            let first = tree(&pairs);
            let groups: Vec<String> = pairs.iter().map(|(path, _)| first.group(path)).collect();
            for ((path, _), group) in pairs.iter().zip(&groups) {
                let begin = group.strip_suffix('…').unwrap_or(group);
                let fits = path.chars().zip(begin.chars()).take_while(|(_, shown)| *shown != '#').all(|(own, shown)| own == shown);
                prop_assert!(fits, "{} in {}", path, group);
            }
            prop_assert!(groups.iter().collect::<BTreeSet<_>>().len() <= MOST_GROUPS + 3);
            paths.reverse();
            let pairs: Vec<(&str, u64)> = paths.iter().map(|(path, events)| (path.as_str(), *events)).collect();
            let second = tree(&pairs);
            let again: Vec<String> = pairs.iter().rev().map(|(path, _)| second.group(path)).collect();
            prop_assert_eq!(groups, again);
        }
    }
}
