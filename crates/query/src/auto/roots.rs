//! Where names of files begin for people: the working directory `./` and the home directory `~/`.

use iotrail_model::Process;
use iotrail_trail::EventLog;
use std::collections::BTreeSet;

/// Directories with short names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Roots {
    /// Working directories of the first processes, one for each run; no two lie in each other. None is `/`.
    here: Vec<String>,
    home: Option<String>,
}

impl Roots {
    pub(crate) fn of(processes: &[Process], log: &EventLog) -> Self {
        let mut first: Vec<(usize, &Process)> = Vec::new();
        for process in processes.iter().filter(|process| process.cwd.is_some()) {
            let run = log.trail_number(process.case);
            match first.iter_mut().find(|(known, _)| *known == run) {
                Some((_, earliest)) if (earliest.start, earliest.pid) > (process.start, process.pid) => {
                    *earliest = process;
                }
                Some(_) => {}
                None => first.push((run, process)),
            }
        }
        let cwds: BTreeSet<&str> = first.iter().filter_map(|(_, process)| process.cwd.as_deref()).collect();
        let mut here: Vec<String> = Vec::new();
        for cwd in cwds.into_iter().filter(|cwd| cwd.len() > 1 && cwd.starts_with('/')) {
            // In order of names a directory comes before what lies in it.
            if !here.iter().any(|outer| below(cwd, outer).is_some()) {
                here.push(cwd.to_owned());
            }
        }
        let home = home(processes, &here, log);
        Self { here, home }
    }

    /// A canonical path as people would write it.
    pub(crate) fn shorten(&self, path: String) -> String {
        if let Some(rest) = self.here.iter().find_map(|here| below(&path, here)) {
            return format!(".{rest}");
        }
        match self.home.as_deref().and_then(|home| below(&path, home)) {
            Some(rest) => format!("~{rest}"),
            None => path,
        }
    }
}

/// What follows `directory` in `path`: empty, or it begins with a slash.
fn below<'a>(path: &'a str, directory: &str) -> Option<&'a str> {
    path.strip_prefix(directory).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The home directory: what the environment says, else where the working directory lies, else the only one that is named.
fn home(processes: &[Process], here: &[String], log: &EventLog) -> Option<String> {
    let said = processes.iter().flat_map(|process| &process.env).find_map(|pair| pair.strip_prefix("HOME="));
    let said = said.filter(|home| home.len() > 1 && home.starts_with('/'));
    let lies_in = || here.iter().find_map(|cwd| home_of(cwd));
    let only = || {
        let mut homes = log.names().paths.iter().filter_map(|path| home_of(path));
        let first = homes.next()?;
        homes.all(|other| other == first).then_some(first)
    };
    said.or_else(lies_in).or_else(only).map(str::to_owned)
}

/// The home directory that a path lies in.
fn home_of(path: &str) -> Option<&str> {
    let rest = path.strip_prefix('/')?;
    let levels = if rest == "root" || rest.starts_with("root/") {
        1
    } else if rest.strip_prefix("home/").is_some_and(|user| !user.is_empty()) {
        2
    } else {
        return None;
    };
    Some(crate::preset::top(path, levels))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_shortened_at_borders_of_components() {
        let roots = Roots { here: vec!["/home/ann/run".to_owned()], home: Some("/home/ann".to_owned()) };
        for (path, shown) in [
            ("/home/ann/run", "."),
            ("/home/ann/run/x", "./x"),
            ("/home/ann/run2/x", "~/run2/x"),
            ("/home/ann", "~"),
            ("/home/anna/x", "/home/anna/x"),
            ("pipe", "pipe"),
        ] {
            assert_eq!(roots.shorten(path.to_owned()), shown);
        }
    }

    #[test]
    fn a_home_directory_is_told_by_its_name() {
        let cases = [
            ("/home/ann/x", Some("/home/ann")),
            ("/home/ann", Some("/home/ann")),
            ("/home/", None),
            ("/root/x", Some("/root")),
            ("/rooted", None),
            ("home/ann", None),
        ];
        for (path, home) in cases {
            assert_eq!(home_of(path), home, "{path}");
        }
    }
}
