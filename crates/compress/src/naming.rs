//! From the names of a log to those of a structure, in the order in which its lines use them.

use hashbrown::HashMap;
use iotrail_model::{Event, FileId, FileRow, NameKind, Names, Nullable, Site, SiteId};
use iotrail_trail::EventLog;
use std::convert::Infallible;
use std::sync::Arc;

/// Names of the structure; a file that is new to a program gets the next number, so that numbers follow from loops.
#[derive(Debug)]
pub(crate) struct Naming<'a> {
    log: &'a EventLog,
    names: Names,
    ids: [HashMap<u32, u32>; NameKind::ALL.len()],
    /// Call sites of the log, in the order of their numbers in the structure.
    sites: Vec<SiteId>,
    site_numbers: HashMap<SiteId, SiteId>,
}

impl<'a> Naming<'a> {
    pub(crate) fn new(log: &'a EventLog) -> Self {
        Self {
            log,
            names: Names::default(),
            ids: Default::default(),
            sites: Vec::new(),
            site_numbers: HashMap::new(),
        }
    }

    fn id(&mut self, kind: NameKind, of_log: u32) -> u32 {
        let list = match kind {
            NameKind::Call => &mut self.names.calls,
            NameKind::Path => &mut self.names.paths,
            NameKind::Errno => &mut self.names.errnos,
            NameKind::Flags => &mut self.names.flags,
        };
        *self.ids[kind as usize].entry(of_log).or_insert_with(|| {
            list.push(Arc::clone(&kind.texts(self.log.names())[of_log as usize]));
            list.len() as u32 - 1
        })
    }

    fn site(&mut self, of_log: SiteId) -> SiteId {
        *self.site_numbers.entry(of_log).or_insert_with(|| {
            self.sites.push(of_log);
            SiteId::from_index(self.sites.len() - 1)
        })
    }

    /// The event with names of the structure; files that are told by their name alone have no number.
    pub(crate) fn event(&mut self, event: &Event) -> Event {
        let Ok(mut named) = event.with_names(|kind, id| Ok::<_, Infallible>(self.id(kind, id)));
        named.file = numbered(self.log, event.file);
        named.file2 = numbered(self.log, event.file2);
        named.site = event.site.get().map(|site| self.site(site)).into();
        named
    }

    /// All names, what is known of the files behind them, and all call sites.
    pub(crate) fn finish(self) -> (Names, Vec<FileRow>, Vec<Site>) {
        let sites = self.sites.iter().map(|site| self.log.sites()[site.index()].clone()).collect();
        let (log, mut names) = (self.log, self.names);
        let mut number: HashMap<Arc<str>, usize> = names.paths.iter().cloned().zip(0..).collect();
        let mut files = log.file_names();
        for row in &mut files {
            row.file = numbered(log, row.file.map(FileId).into()).get().map(|file| file.0);
            row.gone = row.gone.filter(|_| row.file.is_some());
            number.entry_ref(&row.path).or_insert_with(|| {
                names.paths.push(Arc::clone(&row.path));
                names.paths.len() - 1
            });
        }
        files.sort_by_cached_key(|row| (number[&row.path], row.file));
        (names, files, sites)
    }
}

fn numbered(log: &EventLog, file: Nullable<FileId>) -> Nullable<FileId> {
    file.get().filter(|file| log.distinct_files()[file.index()].numbered).into()
}
