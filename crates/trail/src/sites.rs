//! Call sites: the table `sites` of each part, and what its numbers are in a log.

use crate::error::TrailError;
use crate::log::part_of;
use crate::meta::{Table, TableFile};
use crate::parquet_file::ParquetFile;
use crate::read_tables;
use crate::tables::TableWriter;
use crate::trail::Trail;
use hashbrown::HashMap;
use iotrail_model::{Frame, Nullable, Site, SiteId};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// A row of the table: a frame of a site.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SiteRow {
    pub(crate) site: SiteId,
    /// From 0, the caller.
    pub(crate) place: u32,
    pub(crate) frame: Frame,
}

/// Numbers of sites in events, and the log's.
pub(crate) type SiteNumbers = HashMap<SiteId, SiteId>;

/// Writes the sites of a part; none if it has none.
pub(crate) fn write(
    sites: &BTreeMap<SiteId, Site>,
    directory: &Path,
    part: u32,
) -> Result<Option<TableFile>, TrailError> {
    if sites.is_empty() {
        return Ok(None);
    }
    let mut table = TableWriter::create(&directory.join(Table::Sites.file_name(part)))?;
    for (site, of) in sites {
        for (place, frame) in (0..).zip(&of.frames) {
            table.push(SiteRow { site: *site, place, frame: frame.clone() })?;
        }
    }
    Ok(Some(table.finish()?.listed(Table::Sites, part)))
}

/// The sites in a file of the table.
pub(crate) fn read(file: &ParquetFile) -> Result<BTreeMap<SiteId, Site>, TrailError> {
    let mut sites = BTreeMap::<SiteId, Site>::new();
    for row in read_tables::rows(file, read_tables::site_row)? {
        let frames = &mut sites.entry(row.site).or_default().frames;
        if frames.len() != row.place as usize {
            let why = format!("frame {} of site {} is not behind the one before it", row.place, row.site);
            return Err(TrailError::damaged(file.path(), None, why));
        }
        frames.push(row.frame);
    }
    Ok(sites)
}

/// The sites of a log, each once, whoever numbered it.
#[derive(Debug, Default)]
pub(crate) struct Sites {
    pub(crate) all: Vec<Site>,
    /// Those of equal numbers that their frames have ([`Site::number`]).
    by_hash: HashMap<u32, Vec<SiteId>>,
}

impl Sites {
    /// The sites of trails, in the order in which their callers stand in the program, from `main` on: so numbers do not depend on who
    /// recorded what.
    pub(crate) fn of(trails: &[Trail]) -> Result<Self, TrailError> {
        let mut found = Self::default();
        for file in trails.iter().flat_map(|trail| trail.tables(Table::Sites)) {
            read(file)?.into_values().for_each(|site| {
                found.add(site);
            });
        }
        found.all.sort_by(|one, other| one.from_main().cmp(other.from_main()));
        let mut sorted = Self::default();
        found.all.into_iter().for_each(|site| {
            sorted.add(site);
        });
        Ok(sorted)
    }

    /// The log's number of a site.
    pub(crate) fn add(&mut self, site: Site) -> SiteId {
        let same = self.by_hash.entry(site.number()).or_default();
        if let Some(known) = same.iter().find(|known| self.all[known.index()].is_same(&site)) {
            learn(&mut self.all[known.index()], site);
            return *known;
        }
        let number = SiteId::from_index(self.all.len());
        same.push(number);
        self.all.push(site);
        number
    }

    /// The log's numbers of those of a trail.
    pub(crate) fn numbers(&mut self, trail: &Trail) -> Result<PartNumbers, TrailError> {
        let (mut parts, mut others) = (HashMap::new(), SiteNumbers::new());
        for file in trail.tables(Table::Sites) {
            let mut own = SiteNumbers::new();
            for (site, frames) in read(file)? {
                let number = self.add(frames);
                own.insert(site, number);
                others.entry(site).or_insert(number);
            }
            parts.insert(part_of(file).to_owned(), Arc::new(own));
        }
        Ok(PartNumbers { parts, others: Arc::new(others) })
    }
}

/// What another recorder knows of the source of a site.
fn learn(known: &mut Site, other: Site) {
    for (known, other) in known.frames.iter_mut().zip(other.frames) {
        if known.source.function.is_none() {
            known.source = other.source;
        }
    }
}

/// The log's numbers of the sites of a trail.
#[derive(Debug)]
pub(crate) struct PartNumbers {
    parts: HashMap<String, Arc<SiteNumbers>>,
    others: Arc<SiteNumbers>,
}

impl PartNumbers {
    pub(crate) fn of(&self, part: &str) -> Arc<SiteNumbers> {
        Arc::clone(self.parts.get(part).unwrap_or(&self.others))
    }
}

/// Replaces numbers by the log's.
///
/// # Errors
/// The first number that no table has.
pub(crate) fn translate(numbers: &SiteNumbers, sites: &mut [Nullable<SiteId>]) -> Result<(), SiteId> {
    for cell in sites {
        if let Some(site) = cell.get() {
            *cell = Nullable::some(*numbers.get(&site).ok_or(site)?);
        }
    }
    Ok(())
}

/// What is wrong with an event of a site that no table has.
pub(crate) fn unknown(site: SiteId) -> String {
    format!("an event is of site {site}, which is not in `sites`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::Columns;
    use crate::{Capture, CreateOptions, EventLog, TrailWriter, check};
    use iotrail_model::{CallId, Case, Coverage, Dictionaries, Event};

    fn stack(offset: u64) -> Site {
        Site { frames: vec![Frame { module: "/bin/a".to_owned(), offset, ..Frame::default() }] }
    }

    /// A trail of two recorders, each of which made one call from the stack that is its number 7.
    fn trail(path: &Path, stacks: [u64; 2], used: u32) {
        let writer = TrailWriter::create(path, CreateOptions::default()).unwrap();
        let mut names = Dictionaries::default();
        let call = CallId(names.calls.intern(b"MPI_Barrier"));
        let parts = stacks.map(|offset| {
            let mut part = writer.part().unwrap();
            let site = Nullable::some(SiteId(used));
            part.push(&Event { call, site, ..Event::default() }, &names).unwrap();
            part.push_site(SiteId(7), stack(offset));
            part.finish(&names).unwrap()
        });
        writer.finish(&[Case::default()], parts.into(), Capture::default(), &Coverage::default()).unwrap();
    }

    fn sites_of_events(log: &EventLog) -> Vec<Site> {
        let of = |group| log.read(group, Columns::SITE).unwrap().site[0].get().unwrap();
        (0..log.row_groups()).map(of).map(|site: SiteId| log.sites()[site.index()].clone()).collect()
    }

    #[test]
    fn equal_stacks_are_one_site_and_a_number_that_two_have_is_told_apart() {
        let directory = tempfile::tempdir().unwrap();
        let paths = ["a", "b"].map(|name| directory.path().join(format!("{name}.trail")));
        trail(&paths[0], [100, 100], 7);
        trail(&paths[1], [200, 100], 7);
        assert_eq!(check(&paths[1]).unwrap(), []);
        let log = EventLog::open(&paths).unwrap();
        assert_eq!(log.sites(), [stack(100), stack(200)]);
        assert_eq!(sites_of_events(&log), [stack(100), stack(100), stack(200), stack(100)]);
        assert_eq!(log.info().unwrap().sites, 2);
    }

    #[test]
    fn an_event_of_a_site_that_no_table_has_is_damage() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.trail");
        trail(&path, [1, 2], 8);
        assert!(check(&path).unwrap()[0].what.contains("site 8"));
        let log = EventLog::open(&[path]).unwrap();
        assert!(log.read(0, Columns::SITE).unwrap_err().to_string().contains("site 8"));
    }
}
