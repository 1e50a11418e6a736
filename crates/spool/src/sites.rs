//! `sites`: the call sites that events refer to by number, a line of each. A line stands before the first event that has its number; one
//! that comes later with the same number tells more of the same site. Spools without call sites have no such file.

use crate::error::SpoolError;
use crate::regular_file::open_regular;
use crate::sum::Sum;
use iotrail_model::{Site, SiteId};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

const NAME: &str = "sites";
/// No file is read beyond that.
const MOST_BYTES: u64 = 256 << 20;

/// The file, while the spool is written.
#[derive(Debug, Default)]
pub(crate) struct SitesFile(Option<File>);

impl SitesFile {
    /// Adds a line.
    pub(crate) fn append(&mut self, directory: &Path, site: SiteId, of: &Site) -> Result<(), SpoolError> {
        let path = directory.join(NAME);
        let json =
            serde_json::to_vec(&(site, of)).map_err(|error| SpoolError::io("write", &path)(error.into()))?;
        let line = [format!("{:016x} ", Sum::of(&json).0).as_bytes(), &json, b"\n"].concat();
        let file = match &mut self.0 {
            Some(file) => file,
            none => {
                let options = File::options().append(true).create_new(true).to_owned();
                none.insert(options.open(&path).map_err(SpoolError::io("create", &path))?)
            }
        };
        file.write_all(&line).map_err(SpoolError::io("write", &path))
    }
}

/// The call sites of the spool in `directory`. What is damaged, or was not written to its end, is left out.
pub(crate) fn read(directory: &Path) -> Result<BTreeMap<SiteId, Site>, SpoolError> {
    let path = directory.join(NAME);
    let mut bytes = Vec::new();
    match open_regular(&path) {
        Ok(file) => file.take(MOST_BYTES).read_to_end(&mut bytes).map_err(SpoolError::io("read", &path))?,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(SpoolError::io("open", &path)(error)),
    };
    Ok(bytes.split(|byte| *byte == b'\n').filter_map(of_line).collect())
}

fn of_line(line: &[u8]) -> Option<(SiteId, Site)> {
    let (sum, json) = line.split_at_checked(17)?;
    let sum = u64::from_str_radix(str::from_utf8(sum).ok()?.strip_suffix(' ')?, 16).ok()?;
    (sum == Sum::of(json).0).then(|| serde_json::from_slice(json).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::Frame;

    fn site(offset: u64) -> Site {
        Site { frames: vec![Frame { module: "/bin/a\n".to_owned(), offset, ..Frame::default() }] }
    }

    #[test]
    fn sites_come_back_and_later_lines_count() {
        let directory = tempfile::tempdir().unwrap();
        assert!(read(directory.path()).unwrap().is_empty());
        let mut file = SitesFile::default();
        let mut named = site(1);
        named.frames[0].source.function = Some("main".to_owned());
        for (number, site) in [(1, site(1)), (7, site(2)), (1, named.clone())] {
            file.append(directory.path(), SiteId(number), &site).unwrap();
        }
        let expected = BTreeMap::from([(SiteId(1), named), (SiteId(7), site(2))]);
        assert_eq!(read(directory.path()).unwrap(), expected);
    }

    #[test]
    fn a_flipped_bit_or_a_cut_takes_no_more_than_one_line() {
        let directory = tempfile::tempdir().unwrap();
        let mut file = SitesFile::default();
        for number in 0..3 {
            file.append(directory.path(), SiteId(number), &site(9)).unwrap();
        }
        let path = directory.path().join(NAME);
        let sound = std::fs::read(&path).unwrap();
        for at in 0..sound.len() {
            let mut bytes = sound.clone();
            bytes[at] ^= 1;
            std::fs::write(&path, bytes).unwrap();
            let found = read(directory.path()).unwrap();
            assert!(!found.is_empty() && found.values().all(|found| *found == site(9)), "byte {at}");
        }
        std::fs::write(&path, &sound[..sound.len() - 3]).unwrap();
        assert_eq!(read(directory.path()).unwrap().len(), 2);
    }
}
