//! Files of each version that is read.

use iotrail_structure_file::{Document, uncompressed};

/// `mesh 40` of `bench/structure/programs.c` on two ranks under MPICH, at 60 %.
const VERSION_3: &[u8] = include_bytes!("version-3.structure");

/// The same structure in format 4, whose sections are modelled; what they become depends on the model and on all that it has read.
const VERSION_4: &[u8] = include_bytes!("version-4.structure");

#[test]
fn version_4_is_the_same_structure() {
    let document = Document::of_bytes(VERSION_4).expect("a structure");
    assert_eq!(document, Document::of_bytes(VERSION_3).expect("a structure"));
}

#[test]
fn version_3_is_read_and_becomes_the_version_of_today() {
    let document = Document::of_bytes(VERSION_3).expect("a structure");
    assert_eq!((document.lines.len(), document.processes.len(), document.cases.len()), (4, 2, 2));
    assert!(!document.times.is_empty() && !document.structure.drawn().is_empty());
    let again = document.to_bytes().expect("bytes");
    assert!(again.len() < VERSION_3.len(), "{} bytes of {}", again.len(), VERSION_3.len());
    assert_eq!(Document::of_bytes(&again).expect("a structure"), document);
}

#[test]
fn files_that_are_not_compressed_are_the_same_structure() {
    let document = Document::of_bytes(VERSION_3).expect("a structure");
    for file in [VERSION_3.to_vec(), document.to_bytes().expect("bytes")] {
        let plain = uncompressed(&file).expect("a structure");
        assert_eq!(Document::of_bytes(&plain).expect("a structure"), document);
    }
}

#[test]
fn a_damaged_byte_is_an_error() {
    for whole in [VERSION_3, VERSION_4] {
        for place in (0..whole.len()).step_by(7) {
            let mut file = whole.to_vec();
            file[place] ^= 0x55;
            assert!(Document::of_bytes(&file).is_err(), "byte {place} of {}", whole.len());
        }
    }
}
