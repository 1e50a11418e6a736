//! Files of which each rank has its own ones though no name holds its number: of temporary files (`mkstemp`) every rank has as many that it uses in
//! one way, and so does every rank of a larger run.

use crate::names::{KindOfFile, Kinds};
use crate::streams::Streams;
use iotrail_workload::{Class, ClassedFile, FileKind, NamePart};
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem::discriminant;

/// Among fewer ranks than these it is assumed, as of numbers in names.
const MIN_RANKS: usize = 3;

/// Makes files private that one rank uses each, if all ranks have as many of them and use them alike.
pub(crate) fn join(kinds: &mut Kinds, streams: &Streams) {
    let ranks = streams.requests.len();
    if ranks < 2 {
        return;
    }
    let mut of_names: HashMap<usize, usize> = HashMap::new();
    for ((what, _), of_ranks) in alike(kinds, streams) {
        let count = of_ranks.first_key_value().map_or(0, |(_, names)| names.len());
        if of_ranks.len() < ranks || of_ranks.values().any(|names| names.len() != count) {
            continue;
        }
        let names: Vec<usize> = of_ranks.into_values().flatten().collect();
        let form = form(kinds, &names, count > 1);
        let class = kinds.kinds.iter().map(|kind| kind.class + 1).max().unwrap_or_default();
        of_names.extend(names.into_iter().map(|name| (name, kinds.kinds.len())));
        let classed = ClassedFile { class: Class::Private, name: form, assumed: ranks < MIN_RANKS };
        kinds.kinds.push(KindOfFile { classed, what, class });
    }
    for (kind, name) in kinds.of_file.iter_mut().zip(&kinds.named) {
        *kind = of_names.get(name).copied().unwrap_or(*kind);
    }
}

/// The names that one rank uses each, of each rank, by what they are and by what is done with them in which order.
fn alike(kinds: &Kinds, streams: &Streams) -> BTreeMap<(FileKind, u64), BTreeMap<usize, Vec<usize>>> {
    let is_of_one = |file: usize| {
        let class = &kinds.kinds[kinds.of_file[file]].classed.class;
        matches!(class, Class::Root | Class::Exclusive(_))
    };
    let mut used: BTreeMap<(usize, usize), DefaultHasher> = BTreeMap::new();
    for (rank, (requests, renames)) in streams.requests.iter().zip(&streams.frame.renames).enumerate() {
        let key = |file: usize| (rank, kinds.named[file]);
        for (at, request) in requests.iter().enumerate() {
            let file = request.file.0 as usize;
            if is_of_one(file) {
                let step = (discriminant(&request.kind()), &request.form.mode, request.size.get());
                step.hash(used.entry(key(file)).or_default());
            }
            if let Some(to) = renames.get(&at).map(|to| to.0 as usize).filter(|to| is_of_one(*to)) {
                "named".hash(used.entry(key(to)).or_default());
            }
        }
    }
    let mut alike: BTreeMap<(FileKind, u64), BTreeMap<usize, Vec<usize>>> = BTreeMap::new();
    for ((rank, name), way) in used {
        let what = kinds.kinds[kinds.of_file[name]].what;
        alike.entry((what, way.finish())).or_default().entry(rank).or_default().push(name);
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
