//! Several models that run at the same time, each as if it were alone.

use crate::Planned;
use iotrail_replay::{Action, Expected, Operation};
use std::collections::BTreeSet;
use std::time::Duration;

/// One of several models: its path, number of ranks, begin and seed, as in `B.toml:2@+5s#7`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// The model file.
    pub path: String,
    /// Its ranks; NULL for those of all.
    pub ranks: Option<u32>,
    /// How long after the others it begins.
    pub delay: Duration,
    /// Its seed; NULL for that of all.
    pub seed: Option<u64>,
}

/// Why a word is not a component.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a model with ranks, begin and seed; expected FILE, FILE:RANKS, FILE:RANKS@+TIME (5s, 200ms) or FILE:RANKS@+TIME#SEED"
)]
pub struct MixError(String);

impl std::str::FromStr for Component {
    type Err = MixError;

    fn from_str(text: &str) -> Result<Self, MixError> {
        let error = || MixError(iotrail_model::text::printable(text).into_owned());
        let (rest, seed) = last(text, "#", |seed| seed.parse().ok());
        let (rest, delay) = last(rest, "@+", duration);
        if rest.contains("@+") {
            return Err(error());
        }
        let (path, ranks) = last(rest, ":", |ranks| ranks.parse().ok().filter(|ranks| *ranks > 0));
        if path.is_empty() || path.ends_with(":0") {
            return Err(error());
        }
        Ok(Self { path: path.to_owned(), ranks, delay: delay.unwrap_or_default(), seed })
    }
}

/// A text without its end behind a mark, if that is what is expected there.
fn last<'a, T>(text: &'a str, mark: &str, parse: impl Fn(&str) -> Option<T>) -> (&'a str, Option<T>) {
    let found = text.rsplit_once(mark).and_then(|(rest, value)| Some((rest, parse(value)?)));
    found.map_or((text, None), |(rest, value)| (rest, Some(value)))
}

/// Of `5s`, `1.5s` or `200ms`.
fn duration(text: &str) -> Option<Duration> {
    let (number, unit) =
        text.strip_suffix("ms").map_or_else(|| (text.strip_suffix('s'), 1.0), |ms| (Some(ms), 1e3));
    Duration::try_from_secs_f64(number?.parse::<f64>().ok()? / unit).ok()
}

/// Names of directories for components: those of their files, and a number where one is there already.
fn labels(components: &[(Component, Planned)]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let label = |(component, _): &(Component, Planned)| {
        let stem =
            std::path::Path::new(&component.path).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let allowed =
            |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.');
        let clean: String =
            stem.unwrap_or_default().chars().filter(|character| allowed(*character)).collect();
        let clean = clean.trim_start_matches('.');
        let base = if clean.is_empty() { "model" } else { clean };
        let numbered =
            std::iter::once(base.to_owned()).chain((2_u64..).map(|number| format!("{base}-{number}")));
        let free = numbered.into_iter().find(|label| !taken.contains(label)).unwrap_or_default();
        taken.insert(free.clone());
        free
    };
    components.iter().map(label).collect()
}

/// One program of several, each in a directory of its own, and the names of these directories. Each component has the streams that it has alone.
#[must_use]
pub fn mixed(components: Vec<(Component, Planned)>) -> (Planned, Vec<String>) {
    let labels = labels(&components);
    let mut all = Planned::default();
    for ((component, planned), label) in components.into_iter().zip(&labels) {
        let Planned { program, durations } = planned;
        let moved = Moved {
            files: all.program.files.len(),
            groups: all.program.groups.len(),
            events: all.program.events,
        };
        let first = all.program.streams.len();
        let delay = u64::try_from(component.delay.as_nanos()).unwrap_or(u64::MAX);
        for (stream, mut durations) in program.streams.into_iter().zip(durations) {
            let mut stream: Vec<Operation> = stream
                .into_iter()
                .map(|operation| Operation { action: moved.action(operation.action), ..operation })
                .collect();
            if delay > 0 {
                let action = Action::NotBefore(delay);
                stream.insert(0, Operation { think_ns: 0, action, expected: Expected::Success });
                durations.insert(0, 0);
            }
            all.program.streams.push(stream);
            all.durations.push(durations);
        }
        all.program.groups.extend(
            program.groups.into_iter().map(|group| group.into_iter().map(|stream| first + stream).collect()),
        );
        all.program.events += program.events;
        all.program.files.extend(program.files.into_iter().map(|mut file| {
            file.name = format!("{label}/{}", file.name);
            file
        }));
    }
    (all, labels)
}

/// What files, groups and events of a component are numbered from.
struct Moved {
    files: usize,
    groups: usize,
    events: usize,
}

impl Moved {
    const fn action(&self, action: Action) -> Action {
        let Self { files, groups, events } = *self;
        match action {
            Action::Open { file, open, mode } => Action::Open { file: file + files, open, mode },
            Action::Attach { file, open, mode } => Action::Attach { file: file + files, open, mode },
            Action::Stat(file) => Action::Stat(file + files),
            Action::Access(file) => Action::Access(file + files),
            Action::Unlink(file) => Action::Unlink(file + files),
            Action::Rename(from, to) => Action::Rename(from + files, to + files),
            Action::Link(from, to) => Action::Link(from + files, to + files),
            Action::MakeDirectory(file) => Action::MakeDirectory(file + files),
            Action::RemoveDirectory(file) => Action::RemoveDirectory(file + files),
            Action::List(file) => Action::List(file + files),
            Action::Barrier(group) => Action::Barrier(group + groups),
            Action::Signal(event) => Action::Signal(event + events),
            Action::Await(event) => Action::Await(event + events),
            Action::Share { open, event } => Action::Share { open, event: event + events },
            Action::Inherit { open, event } => Action::Inherit { open, event: event + events },
            action => action,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{planned, schedule};
    use iotrail_replay::Plan;
    use iotrail_workload::{Model, TEMPLATES};

    fn template(name: &str) -> Model {
        let (.., text) = TEMPLATES.iter().find(|(known, ..)| *known == name).unwrap();
        Model::parse(text).unwrap()
    }

    #[test]
    fn components_have_ranks_begin_and_seed() {
        let of = |text: &str| {
            text.parse::<Component>().map(|of| (of.path, of.ranks, of.delay.as_millis(), of.seed))
        };
        assert_eq!(of("A.toml"), Ok(("A.toml".to_owned(), None, 0, None)));
        assert_eq!(of("A.toml:4"), Ok(("A.toml".to_owned(), Some(4), 0, None)));
        assert_eq!(of("b/B.toml:2@+5s"), Ok(("b/B.toml".to_owned(), Some(2), 5000, None)));
        assert_eq!(of("B.toml@+1.5s#7"), Ok(("B.toml".to_owned(), None, 1500, Some(7))));
        assert_eq!(of("C:x.toml:2@+200ms"), Ok(("C:x.toml".to_owned(), Some(2), 200, None)));
        for text in ["", ":4", "A.toml:0", "A.toml@+5", "A.toml@+x:2"] {
            assert!(of(text).is_err(), "{text}");
        }
    }

    #[test]
    fn each_component_does_what_it_does_alone() {
        let component = |text: &str| text.parse::<Component>().unwrap();
        let parts = [
            ("checkpoint", component("x/checkpoint.toml:3")),
            ("log", component("log.toml:2@+20ms")),
            ("log", component("y/log.toml:2")),
        ];
        let alone: Vec<Planned> = parts
            .iter()
            .map(|(name, component)| planned(&template(name), component.ranks.unwrap(), 5).unwrap())
            .collect();
        let all = parts.iter().map(|(_, component)| component.clone()).zip(alone.iter().cloned()).collect();
        let (mix, labels) = mixed(all);
        assert_eq!(labels, ["checkpoint", "log", "log-2"]);
        let mut stream = 0;
        for ((planned, label), (_, component)) in alone.iter().zip(&labels).zip(&parts) {
            for own in &planned.program.streams {
                let late = usize::from(!component.delay.is_zero());
                let made = &mix.program.streams[stream][late..];
                assert_eq!(made.len(), own.len());
                for (made, own) in made.iter().zip(own) {
                    assert_eq!((made.think_ns, made.expected), (own.think_ns, own.expected));
                    if let (Action::Open { file: made, .. }, Action::Open { file: own, .. }) =
                        (made.action, own.action)
                    {
                        let name = format!("{label}/{}", planned.program.files[own].name);
                        assert_eq!(mix.program.files[made].name, name);
                    } else {
                        assert_eq!(made.action.bytes(), own.action.bytes());
                    }
                }
                stream += 1;
            }
        }
        let starts = schedule(&mix);
        assert_eq!(starts[3][1], 20_000_000 + mix.program.streams[3][1].think_ns);
        assert!(Plan::new(mix.program).is_ok());
    }
}
