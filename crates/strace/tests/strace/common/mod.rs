//! A directory with trace files and the trail made of them.

#![allow(clippy::expect_used, unreachable_pub, reason = "a module of tests")]

use iotrail_import::{ImportError, ImportOptions, ImportSummary, Input, Progress, Silent, import};
use iotrail_strace::Strace;
use iotrail_trail::{Columns, EventLog};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A temporary directory; its trail lies outside of [`Dir::root`].
pub struct Dir {
    temporary: tempfile::TempDir,
    root: PathBuf,
}

impl Dir {
    pub fn new() -> Self {
        let temporary = tempfile::tempdir().expect("a directory");
        let root = temporary.path().join("in");
        fs::create_dir(&root).expect("a directory");
        Self { temporary, root }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(&path, content).expect("a file");
        path
    }

    /// Names of everything beside the trail's place.
    pub fn names(&self) -> Vec<String> {
        let outer = fs::read_dir(self.temporary.path()).expect("a directory");
        let inner = fs::read_dir(&self.root).expect("a directory");
        let names = outer
            .chain(inner)
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
        names.filter(|name| name != "in").collect()
    }

    pub fn trail(&self) -> PathBuf {
        self.temporary.path().join("t.trail")
    }

    pub fn log(&self) -> EventLog {
        assert_eq!(iotrail_trail::check(&self.trail()).expect("a trail"), []);
        EventLog::open(&[self.trail()]).expect("a trail")
    }

    pub fn import_exactly(
        &self,
        paths: &[&Path],
        options: &ImportOptions,
    ) -> Result<ImportSummary, ImportError> {
        self.run(paths, options, &Silent)
    }

    pub fn import_with(
        &self,
        paths: &[&Path],
        options: &ImportOptions,
        progress: &dyn Progress,
    ) -> Result<ImportSummary, ImportError> {
        self.run(paths, &ImportOptions { overwrite: true, ..options.clone() }, progress)
    }

    pub fn try_import(&self, paths: &[&Path], options: &ImportOptions) -> Result<ImportSummary, ImportError> {
        self.import_with(paths, options, &Silent)
    }

    pub fn import<P: AsRef<Path>>(&self, paths: &[P], options: &ImportOptions) -> (ImportSummary, EventLog) {
        let paths: Vec<&Path> = paths.iter().map(AsRef::as_ref).collect();
        let summary = self.try_import(&paths, options).expect("a trail");
        let log = self.log();
        assert_eq!(summary.coverage.lines.sum(), summary.coverage.lines.total);
        assert_eq!(summary.coverage, log.coverage());
        assert_eq!(summary.events, log.rows());
        (summary, log)
    }

    fn run(
        &self,
        paths: &[&Path],
        options: &ImportOptions,
        progress: &dyn Progress,
    ) -> Result<ImportSummary, ImportError> {
        let inputs: Vec<Input> = paths.iter().map(|path| Input::Path((*path).into())).collect();
        import(&[&Strace], &inputs, options, &self.trail(), progress)
    }
}

/// What a test looks at of an event.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub case: u32,
    pub tid: u32,
    pub call: String,
    pub path: String,
    pub size: Option<i64>,
    pub start: i64,
    pub dur: Option<i64>,
}

impl Row {
    /// `case tid call path +size start dur`, times in seconds.
    pub fn text(self) -> String {
        let seconds = |nanos: i64| format!("{}.{:06}", nanos / 1_000_000_000, nanos / 1000 % 1_000_000);
        let size = self.size.map_or("-".to_owned(), |size| format!("+{size}"));
        let dur = self.dur.map_or("-".to_owned(), seconds);
        format!("{} {} {} {} {size} {} {dur}", self.case, self.tid, self.call, self.path, seconds(self.start))
    }
}

/// All rows in the order of the log.
pub fn shown(log: &EventLog) -> Vec<Row> {
    let mut rows = Vec::new();
    for row_group in 0..log.row_groups() {
        let batch = log.read(row_group, Columns::ALL).expect("rows");
        for event in (0..batch.len).map(|row| batch.event(row)) {
            rows.push(Row {
                case: event.case.0,
                tid: event.tid.0,
                call: log.names().call(event.call).to_owned(),
                path: log.names().path(event.path).unwrap_or("-").to_owned(),
                size: event.size.get(),
                start: event.start.0,
                dur: event.dur.get().map(|dur| dur.0),
            });
        }
    }
    rows
}

/// Every file of a directory by name.
pub fn content(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry"));
    entries
        .map(|entry| {
            (entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path()).expect("a file"))
        })
        .collect()
}

pub fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).expect("memory");
    encoder.finish().expect("memory")
}

pub fn xz(text: &str) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
    encoder.write_all(text.as_bytes()).expect("memory");
    encoder.finish().expect("memory")
}

pub fn zst(text: &str) -> Vec<u8> {
    zstd::encode_all(text.as_bytes(), 1).expect("memory")
}
