//! Names that are no files of the workflow: the system, the installed software, what is no regular file.

use foldhash::fast::RandomState;
use hashbrown::HashSet;
use iotrail_query::{LifeId, Lives};
use iotrail_trail::EventLog;

const SYSTEM: [&str; 13] = [
    "/bin/",
    "/boot/",
    "/dev/",
    "/etc/",
    "/lib/",
    "/lib32/",
    "/lib64/",
    "/proc/",
    "/run/",
    "/sbin/",
    "/sys/",
    "/usr/",
    "/var/cache/",
];

/// For each path of the log whether it is hidden. Below the directory where the recording began nothing of the system
/// is hidden by its place.
pub(crate) fn hidden(log: &EventLog, lives: &Lives) -> Vec<bool> {
    let names = log.names();
    let base = lives.all().first().and_then(|_| lives.images(LifeId(0)).first()?.cwd.clone());
    let base = base.map(|base| format!("{}/", base.trim_end_matches('/')));
    let software = software(lives, base.as_deref());
    let others: HashSet<&str, RandomState> = log
        .files()
        .iter()
        .filter(|file| file.kind.as_deref().is_some_and(|kind| kind != "file"))
        .map(|file| &*file.path)
        .collect();
    names
        .paths
        .iter()
        .map(|path| {
            if !path.starts_with('/')
                || others.contains(&**path)
                || ["/dev/", "/proc/", "/sys/"].iter().any(|place| path.starts_with(place))
            {
                return true;
            }
            if base.as_deref().is_some_and(|base| base.len() > 1 && path.starts_with(base)) {
                return false;
            }
            let within = |place: &str| path.starts_with(place);
            SYSTEM.iter().any(|place| within(place)) || software.iter().any(|place| within(place))
        })
        .collect()
}

/// Where executables are installed: `X/lib/` and so on for each executed `X/bin/name`.
fn software(lives: &Lives, base: Option<&str>) -> Vec<String> {
    let mut places: Vec<String> = lives
        .all()
        .iter()
        .enumerate()
        .flat_map(|(place, _)| lives.images(LifeId(place as u32)))
        .filter_map(|image| image.exe.as_deref()?.rsplit_once("/bin/"))
        .map(|(prefix, _)| prefix)
        .filter(|prefix| {
            !prefix.is_empty() && base.is_none_or(|base| !base.starts_with(&format!("{prefix}/")))
        })
        .flat_map(|prefix| {
            ["bin", "lib", "lib64", "libexec", "share", "include"].map(|part| format!("{prefix}/{part}/"))
        })
        .collect();
    places.sort();
    places.dedup();
    places
}
