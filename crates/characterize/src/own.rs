//! Files of which each rank has its own ones though no name holds its number: of temporary files (`mkstemp`) every rank has as many that it uses in
//! one way, and so does every rank of a larger run.

use crate::lives::takes_name;
use crate::names::{KindOfFile, Kinds, Naming};
use crate::streams::Streams;
use iotrail_workload::{Class, ClassedFile, FileKind, NamePart};
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem::discriminant;

/// Among fewer ranks than these it is assumed, as of numbers in names.
const MIN_RANKS: usize = 3;

/// Makes files private that one rank uses each, if all ranks have as many of them and use them alike; where names are kept, only those whose names are
/// gone in the end.
pub(crate) fn join(kinds: &mut Kinds, streams: &Streams, naming: Naming) {
    let ranks = streams.requests.len();
    if ranks < 2 {
        return;
    }
    let mut of_names: HashMap<usize, usize> = HashMap::new();
    let mut class = kinds.kinds.iter().map(|kind| kind.class + 1).max().unwrap_or_default();
    for (Way { what, keeps_name, .. }, of_ranks) in alike(kinds, streams) {
        if keeps_name && naming == Naming::Keep {
            continue;
        }
        let count = of_ranks.first_key_value().map_or(0, |(_, names)| names.len());
        if of_ranks.len() < ranks || of_ranks.values().any(|names| names.len() != count) {
            continue;
        }
        let names: Vec<usize> = of_ranks.into_values().flatten().collect();
        let form = form(kinds, &names, count > 1);
        of_names.extend(names.into_iter().map(|name| (name, kinds.kinds.len())));
        let classed = ClassedFile { class: Class::Private, name: form, assumed: ranks < MIN_RANKS };
        kinds.kinds.push(KindOfFile { classed, what, class });
        class += 1;
    }
    for (kind, name) in kinds.of_file.iter_mut().zip(&kinds.named) {
        *kind = of_names.get(name).copied().unwrap_or(*kind);
    }
}

/// What a name stands for, and what is done with it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Way {
    what: FileKind,
    /// Hash of all steps in their order.
    steps: u64,
    /// Whether nobody takes it away in the end.
    keeps_name: bool,
}

/// The names that one rank uses each, of each rank, by the way in which they are used.
fn alike(kinds: &Kinds, streams: &Streams) -> BTreeMap<Way, BTreeMap<usize, Vec<usize>>> {
    let is_of_one = |file: usize| {
        let class = &kinds.kinds[kinds.of_file[file]].classed.class;
        matches!(class, Class::Root | Class::Exclusive(_))
    };
    let first = || (DefaultHasher::new(), true);
    let mut used: BTreeMap<(usize, usize), (DefaultHasher, bool)> = BTreeMap::new();
    for (rank, (requests, renames)) in streams.requests.iter().zip(&streams.frame.renames).enumerate() {
        let key = |file: usize| (rank, kinds.named[file]);
        for (at, request) in requests.iter().enumerate() {
            let file = request.file.0 as usize;
            if is_of_one(file) {
                let step = (discriminant(&request.kind()), &request.form.mode, request.size.get());
                let (steps, keeps_name) = used.entry(key(file)).or_insert_with(first);
                step.hash(steps);
                let call = request.kind();
                *keeps_name = (*keeps_name || call.opens_file()) && !takes_name(call);
            }
            if let Some(to) = renames.get(&at).map(|to| to.0 as usize).filter(|to| is_of_one(*to)) {
                let (steps, keeps_name) = used.entry(key(to)).or_insert_with(first);
                "named".hash(steps);
                *keeps_name = true;
            }
        }
    }
    let mut alike: BTreeMap<Way, BTreeMap<usize, Vec<usize>>> = BTreeMap::new();
    for ((rank, name), (steps, keeps_name)) in used {
        let what = kinds.kinds[kinds.of_file[name]].what;
        let way = Way { what, steps: steps.finish(), keeps_name };
        alike.entry(way).or_default().entry(rank).or_default().push(name);
    }
    alike
}

/// The directory that all of these are in, the rank, and a number if a rank has several.
fn form(kinds: &Kinds, names: &[usize], numbered: bool) -> Vec<NamePart> {
    let literal = |name: &usize| match &kinds.kinds[kinds.of_file[*name]].classed.name[..] {
        [NamePart::Literal(path)] => path.as_slice(),
        _ => &[],
    };
    let mut all = names.iter().map(literal);
    let first = all.next().unwrap_or_default();
    let common = all.fold(first.len(), |common, other| {
        first.iter().zip(other).take(common).take_while(|(one, other)| one == other).count()
    });
    let directory = first[..common].iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    let mut form = vec![NamePart::Literal([&first[..directory], b"own."].concat()), NamePart::Rank(1)];
    if numbered {
        form.extend([NamePart::Literal(b".".to_vec()), NamePart::Number]);
    }
    form
}
