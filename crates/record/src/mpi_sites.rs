//! The call sites of MPI calls: each thread numbers its own, the recording has each once.

use iotrail_model::text::path_to_text;
use iotrail_model::{Frame, Pid, Site, SiteId, SourcePlace};
use iotrail_mpi_abi::frames::{MOST_BYTES, RawFrame, read_frames};
use iotrail_source_lines::Sources;
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;

/// No thread has more.
const MOST_SITES: usize = 1 << 16;

/// The call sites of a recording.
#[derive(Debug, Default)]
pub(crate) struct CallSites(BTreeMap<SiteId, Site>);

impl CallSites {
    /// The number of a site, which `keep` keeps if it is new; `None` if that fails. It follows from the frames, so that recorders of other
    /// ranks give the same one.
    pub(crate) fn add(&mut self, site: Site, keep: impl FnOnce(SiteId, &Site) -> bool) -> Option<SiteId> {
        let mut number = site.number();
        loop {
            let id = SiteId(if number == u32::MAX { 0 } else { number });
            match self.0.get(&id) {
                Some(known) if known.is_same(&site) => return Some(id),
                // Of two sites that would have one number, the second takes the next.
                Some(_) => number = id.0.wrapping_add(1),
                None => {
                    return keep(id, &site).then(|| {
                        self.0.insert(id, site);
                        id
                    });
                }
            }
        }
    }

    /// All sites, with what the programs' files tell of the sources.
    pub(crate) fn named(&mut self) -> BTreeMap<SiteId, Site> {
        let mut sites = std::mem::take(&mut self.0);
        let mut sources = Sources::default();
        sources.name(sites.values_mut().flat_map(|site| &mut site.frames));
        sites
    }
}

/// The call sites of a thread.
#[derive(Debug, Default)]
pub(crate) struct SitesOfThread {
    /// Frames of a site whose number is not known yet.
    pieces: Vec<u8>,
    /// The recording's numbers, by the thread's less 1.
    numbers: Vec<Option<SiteId>>,
}

impl SitesOfThread {
    /// Adds a piece of the frames of the next site; `None` if there are too many.
    pub(crate) fn adds(&mut self, piece: &[u8]) -> Option<()> {
        if self.pieces.len() + piece.len() > MOST_BYTES {
            self.pieces.clear();
            return None;
        }
        self.pieces.extend_from_slice(piece);
        Some(())
    }

    /// The site whose frames were told, if the call that begins is the first of a number.
    pub(crate) fn completes(&mut self, number: u32, process: Pid) -> Option<Site> {
        if self.pieces.is_empty() || number == 0 {
            return None;
        }
        let pieces = std::mem::take(&mut self.pieces);
        let program = || program_of(process);
        let frames = read_frames(&pieces)?.iter().map(|frame| of_raw(frame, program)).collect();
        Some(Site { frames })
    }

    /// The thread's number stands for that of the recording.
    pub(crate) fn number(&mut self, number: u32, site: Option<SiteId>) {
        let Some(index) = (number as usize).checked_sub(1).filter(|index| *index < MOST_SITES) else {
            return;
        };
        self.numbers.resize(self.numbers.len().max(index + 1), None);
        self.numbers[index] = site;
    }

    /// The recording's number for that of the thread.
    pub(crate) fn of(&self, number: u32) -> Option<SiteId> {
        *self.numbers.get((number as usize).checked_sub(1)?)?
    }
}

fn of_raw(frame: &RawFrame<'_>, program: impl Fn() -> Vec<u8>) -> Frame {
    let module = if frame.module.is_empty() { program() } else { frame.module.to_vec() };
    let digits = || frame.build_id.iter().map(|byte| format!("{byte:02x}")).collect();
    Frame {
        module: path_to_text(&module).into_owned(),
        build_id: (!frame.build_id.is_empty()).then(digits),
        offset: frame.address,
        source: SourcePlace::default(),
    }
}

/// The path of the program that a process runs.
fn program_of(process: Pid) -> Vec<u8> {
    let link = std::fs::read_link(format!("/proc/{process}/exe"));
    link.map(|path| path.as_os_str().as_bytes().to_vec()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(offset: u64) -> Site {
        Site { frames: vec![Frame { module: "/bin/a".to_owned(), offset, ..Frame::default() }] }
    }

    #[test]
    fn a_site_has_one_number_whoever_tells_it_and_is_kept_once() {
        let (mut sites, mut kept) = (CallSites::default(), 0);
        let mut add = |site| {
            sites.add(site, |_, _| {
                kept += 1;
                true
            })
        };
        let numbers = [1, 2, 1].map(|offset| add(site(offset)));
        assert_eq!(numbers[0], Some(SiteId(site(1).number())));
        assert!(numbers[0] == numbers[2] && numbers[1] != numbers[0]);
        assert_eq!(kept, 2);
    }

    #[test]
    fn what_is_not_kept_has_no_number() {
        let mut sites = CallSites::default();
        assert_eq!(sites.add(site(1), |_, _| false), None);
        assert!(sites.add(site(1), |_, _| true).is_some());
    }

    #[test]
    fn two_sites_of_one_number_are_told_apart() {
        let mut sites = CallSites::default();
        let (first, second) = (site(1), site(2));
        sites.0.insert(SiteId(second.number()), first);
        assert_eq!(sites.add(second.clone(), |_, _| true), Some(SiteId(second.number().wrapping_add(1))));
    }

    #[test]
    fn numbers_that_make_no_sense_are_none() {
        let mut sites = SitesOfThread::default();
        assert_eq!((sites.of(0), sites.of(u32::MAX)), (None, None));
        sites.number(u32::MAX, Some(SiteId(1)));
        sites.number(0, Some(SiteId(1)));
        assert!(sites.numbers.is_empty());
        sites.adds(b"none").unwrap();
        assert_eq!(sites.completes(1, Pid(1)), None);
        assert!(sites.pieces.is_empty());
    }
}
