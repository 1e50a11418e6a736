//! From a structure to a trail.

use crate::error::CompressError;
use crate::events::Events;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::text::text_to_path;
use iotrail_model::{CaseId, Dictionaries, Event, FileId, FileRow, NameKind, NamedFile, Nullable, SiteId};
use iotrail_structure_file::Document;
use iotrail_trail::{CreateOptions, Totals, TrailWriter};
use std::convert::Infallible;
use std::path::Path;

/// Writes the trail of a structure to `target`; `step` is told the number of events that were written.
///
/// Where a structure keeps no times one by one, they are drawn, and the events of a case are numbered thread by thread. What is
/// drawn depends on `seed`.
///
/// # Errors
/// The structure contradicts itself, or the trail cannot be written.
pub fn expand(
    document: &Document,
    target: &Path,
    options: CreateOptions,
    seed: u64,
    step: impl FnMut(u64),
) -> Result<Totals, CompressError> {
    expand_into(document, TrailWriter::create(target, options)?, seed, step)
}

/// As [`expand()`], with a trail that was begun.
///
/// # Errors
/// The structure contradicts itself, or the trail cannot be written.
pub fn expand_into(
    document: &Document,
    writer: TrailWriter,
    seed: u64,
    mut step: impl FnMut(u64),
) -> Result<Totals, CompressError> {
    let writer = writer.distinct_files();
    let mut part = writer.part()?;
    let names = Translation::new(document);
    let mut events = Events::new(document, seed);
    let mut written = 0;
    for line in 0..document.lines.len() as u32 {
        events.line(line, &mut |expanded| {
            part.push(&names.event(&expanded.event), &names.dictionaries)?;
            written += 1;
            Ok(())
        })?;
        step(written);
    }
    events.end()?;
    for (number, site) in document.sites.iter().enumerate() {
        part.push_site(SiteId::from_index(number), site.clone());
    }
    for process in &document.processes {
        part.push_process(process)?;
    }
    for row in &document.files {
        let file = names.file(row.file.map(FileId).into());
        part.push_file(&text_to_path(&row.path), NamedFile { file, ..row.named() })?;
    }
    names.numberings.iter().for_each(|&(case, from)| part.numbering(case, from));
    let summary = part.finish(&names.dictionaries)?;
    let about = &document.about;
    Ok(writer.finish(&document.cases, vec![summary], about.capture.clone(), &about.coverage)?)
}

/// From the ids of a structure to those of a trail.
struct Translation {
    dictionaries: Dictionaries,
    ids: [Vec<u32>; NameKind::ALL.len()],
    /// Numbers of the trail by number of the structure: those of one case follow one another.
    files: HashMap<FileId, FileId, RandomState>,
    /// The first number of each case.
    numberings: Vec<(CaseId, FileId)>,
}

impl Translation {
    fn new(document: &Document) -> Self {
        let mut dictionaries = Dictionaries::default();
        let ids = NameKind::ALL.map(|kind| {
            let texts = kind.texts(&document.names).iter();
            let texts = texts.map(|text| match kind {
                NameKind::Path => text_to_path(text).into_owned(),
                _ => text.as_bytes().to_vec(),
            });
            texts.map(|text| kind.of_mut(&mut dictionaries).intern(&text)).collect()
        });
        let (files, numberings) = numbers(&document.files);
        Self { dictionaries, ids, files, numberings }
    }

    fn event(&self, event: &Event) -> Event {
        let Ok(named) =
            event.with_names(|kind, id| Ok::<_, Infallible>(self.ids[kind as usize][id as usize]));
        Event { file: self.file(event.file), file2: self.file(event.file2), ..named }
    }

    /// A file that is not in `files` is told by its name.
    fn file(&self, file: Nullable<FileId>) -> Nullable<FileId> {
        file.get().and_then(|file| self.files.get(&file).copied()).into()
    }
}

/// Files as one numbering for each case that numbered some; those of no case come first.
fn numbers(files: &[FileRow]) -> (HashMap<FileId, FileId, RandomState>, Vec<(CaseId, FileId)>) {
    let mut numbered: Vec<(Option<CaseId>, u32)> =
        files.iter().filter_map(|row| Some((row.case, row.file?))).collect();
    numbered.sort_unstable();
    numbered.dedup_by_key(|(_, file)| *file);
    let (mut numbers, mut numberings, mut last) = (HashMap::default(), Vec::new(), None);
    for (index, (case, file)) in numbered.into_iter().enumerate() {
        let number = FileId::from_index(index);
        numbers.insert(FileId(file), number);
        if last.replace(case) != Some(case) {
            numberings.extend(case.map(|case| (case, number)));
        }
    }
    (numbers, numberings)
}
