use iotrail_workload::{Accessed, Class, ClassedFile, NamePart, classes};
use std::collections::BTreeSet;

fn file(name: &str, ranks: &[u32]) -> Accessed {
    Accessed { name: name.as_bytes().to_vec(), ranks: ranks.iter().copied().collect() }
}

fn literal(text: &str) -> NamePart {
    NamePart::Literal(text.as_bytes().to_vec())
}

fn private(name: Vec<NamePart>) -> ClassedFile {
    ClassedFile { class: Class::Private, name, assumed: false }
}

fn class_of(name: &str, ranks: &[u32], of: u32) -> Class {
    classes(&[file(name, ranks)], of)[0].class.clone()
}

#[test]
fn the_set_of_ranks_is_the_class() {
    assert_eq!(class_of("log", &[0], 4), Class::Root);
    assert_eq!(class_of("in", &[0, 1, 2, 3], 4), Class::Shared);
    assert_eq!(class_of("part", &[1, 2], 4), Class::Subset(BTreeSet::from([1, 2])));
    assert_eq!(class_of("one", &[2], 4), Class::Exclusive(2));
}

#[test]
fn a_number_that_is_the_rank_in_three_names_is_the_rank() {
    let files: Vec<_> = (0..3).map(|rank| file(&format!("run7/ck.{rank:04}"), &[rank])).collect();
    let expected = private(vec![literal("run7/ck."), NamePart::Rank(4)]);
    assert_eq!(classes(&files, 3), vec![expected; 3]);
}

#[test]
fn two_ranks_are_an_assumption_and_one_is_none() {
    let files: Vec<_> = (0..2).map(|rank| file(&format!("ck.{rank}"), &[rank])).collect();
    let expected = ClassedFile { assumed: true, ..private(vec![literal("ck."), NamePart::Rank(0)]) };
    assert_eq!(classes(&files, 2), vec![expected; 2]);
    assert_eq!(classes(&files[1..], 2)[0].class, Class::Exclusive(1));
}

#[test]
fn what_varies_beside_the_rank_is_a_running_number() {
    let names = (0..3).flat_map(|rank| (5..7).map(move |step| file(&format!("s{step}-r{rank}"), &[rank])));
    let expected = private(vec![literal("s"), NamePart::Number, literal("-r"), NamePart::Rank(0)]);
    assert_eq!(classes(&names.collect::<Vec<_>>(), 3), vec![expected; 6]);
}

#[test]
fn one_name_that_disagrees_makes_all_exclusive() {
    let files = [file("ck.0", &[0]), file("ck.1", &[1]), file("ck.3", &[2])];
    let found: Vec<_> = classes(&files, 3).into_iter().map(|file| file.class).collect();
    assert_eq!(found, [Class::Root, Class::Exclusive(1), Class::Exclusive(2)]);
}

#[test]
fn a_shared_file_with_a_number_is_shared() {
    let files: Vec<_> = (0..3).map(|number| file(&format!("in.{number}"), &[0, 1, 2])).collect();
    assert!(classes(&files, 3).iter().all(|file| file.class == Class::Shared));
}
