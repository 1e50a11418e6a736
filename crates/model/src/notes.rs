//! What a reader of a trail must know beside its figures: facts, which are worded in one place (`words`).
//!
//! A trail stores both: `notes` are the sentences, `facts` the facts that they word, in the same order. So whoever reads
//! sentences needs no list of facts, a trail without facts opens (its sentences are [`Note::Said`]), and a fact of a
//! later version is read as its sentence.

mod words;

use crate::time::Nanos;
use serde::de::IgnoredAny;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt::{self, Debug, Formatter};

/// One fact that figures do not show. Texts are as they were found; where they are shown, they are escaped.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "kebab-case")]
#[allow(missing_docs, reason = "each variant says what its fields are")]
pub enum Note {
    /// A sentence whose fact is not known: of a trail that was written before facts were stored, or by a later version.
    Said { text: String },

    /// Traces without time stamps.
    FilesWithoutTimes { files: u64 },
    /// Traces whose time stamps start at 0.
    FilesWithRelativeTimes { files: u64 },
    /// Traces with times of day and no date.
    FilesWithoutDate { files: u64 },
    /// Time stamps whose unit is too coarse for single calls.
    CoarseTimes { unit: Nanos },
    /// Traces of which no call has a duration.
    FilesWithoutDurations { files: u64 },
    /// Traces without a call.
    FilesWithoutEvents { files: u64 },
    /// Compressed traces that are damaged or incomplete.
    FilesDamaged { files: u64 },
    /// Traces that could not be read to their end.
    FilesUnreadable { files: u64 },
    /// Traces that end in the middle of a line: how many, and the first of them with that line.
    FilesCut { files: u64, first: String, line: u64 },
    /// Traces whose last line has no end.
    FilesWithoutLineEnd { files: u64 },
    /// Lines too long to be read whole: how many, and the bytes in their middle that were skipped.
    LongLines { lines: u64, bytes: u64 },
    /// Threads of which it is not known which process they belong to.
    ThreadsWithoutProcess { threads: u64 },
    /// Files mapped into memory, in an imported trace.
    FilesMapped { files: u64 },
    /// Requests to io_uring and aio that a call shows; 0 if only their rings were seen.
    AsynchronousRequests { requests: u64 },
    /// The clock of a trace was set back.
    ClockSetBack { times: u64, largest: Nanos },
    /// Interrupted calls that are taken for restarted.
    PresumedRestarts { calls: u64 },
    /// Processes changed their root directory.
    RootsChanged { processes: u64 },
    /// Names that are unknown because they would be too long.
    LongNames { paths: u64 },
    /// Changes of mounts that were not followed.
    UnclearMounts { calls: u64 },
    /// Calls on descriptors that another thread changed at a time that cannot be compared.
    UncertainDescriptors { calls: u64 },
    /// The user cancelled the import.
    ImportCancelled,
    /// Inputs with clocks that cannot be compared.
    ClocksDiffer,
    /// An input that is not in the trail, or not to its end, how many more are not for the same reason, and the reason.
    InputLeftOut { file: String, more: u64, partly: bool, why: String },
    /// More inputs that are not in the trail.
    InputsLeftOut { more: u64 },
    /// A table of `strace -c` in a trace.
    CallTableSkipped,

    /// What a trace of functions without the system calls in them does not hold.
    FunctionsOnly,
    /// MPI calls were to be recorded, and there were none.
    NoMpiCalls,
    /// MPI calls whose call site is not told, because their thread makes calls from too many.
    CallsWithoutSite { calls: u64 },
    /// What Darshan DXT does not hold.
    DxtTransfersOnly,
    /// The unit of times in the text of a log of Darshan DXT.
    DxtUnit { unit: Nanos },
    /// The start of a job in a log of Darshan is known to a second.
    DxtStartInSeconds,
    /// Darshan ran out of memory for a module.
    DxtModuleIncomplete { module: String },
    /// A log of Darshan of a job without DXT.
    DxtDisabled { file: String },
    /// The text of a log of Darshan ends before modules that its header announces; in its header, if `modules` is empty.
    DxtTextCut { file: String, modules: Vec<String> },

    /// The trail has recordings that are not finished.
    Unfinished,
    /// A recording that was not taken into the trail; its case, where that could be read.
    RecordingLeftOut { case: Option<String>, why: String },
    /// A recording that was read from its spool, because its recorder did not finish it.
    FromSpool { case: String, host: String, pid: u32, events: u64, why: String },
    /// The count of a recorder's losses cannot be read.
    LossesUnreadable { case: String },
    /// A damaged part of a spool.
    SpoolDamaged { file: String, byte: u64, what: String },

    /// The calls that a recorder was to record.
    CallsRecorded(CallsRecorded),
    /// The kernel refused to resume a stopped thread.
    ResumeRefused { error: String, times: u64 },
    /// One in so many transfers was recorded.
    Sampled { each: u64 },
    /// The recorder was under a limit of CPU time.
    CpuLimit { seconds: u64 },

    /// Cases whose calls have an order and no times.
    CasesWithoutTimes { cases: u64 },
    /// Cases whose times count from their own start.
    CasesWithRelativeTimes { cases: u64 },
    /// A case whose events are scattered over the log.
    CaseScattered { case: String },

    /// The trail is a redacted copy.
    Redacted,
    /// The trail is a copy in which only rules replaced names: as many of its paths.
    RedactedByRules { renamed: u64, paths: u64 },
    /// Texts that a redacted copy lacks.
    RedactedTexts { notes: u64, examples: u64 },
}

/// Which calls a recorder was to record, by family.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CallsRecorded {
    /// The set as the user asked for it (`io`).
    pub asked: String,
    /// Calls in it.
    pub calls: u64,
    /// Calls that the machine has.
    pub of: u64,
    /// The machine (`x86-64`).
    pub machine: String,
    /// Families of calls of which none is in it.
    pub without: Vec<String>,
    /// Families of calls of which some are in it.
    pub partly: Vec<FamilyShare>,
    /// Whether calls about memory are recorded only where they concern files.
    pub memory_of_files_only: bool,
}

/// How many calls of a family are recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FamilyShare {
    /// Name of the family.
    pub family: String,
    /// Calls that are recorded.
    pub calls: u64,
    /// Calls in the family.
    pub of: u64,
}

/// Facts, each once, in the order of their sentences.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Notes(Vec<(String, Note)>);

impl Notes {
    /// Adds a fact, once.
    pub fn insert(&mut self, note: Note) {
        let entry = (note.to_string(), note);
        if let Err(index) = self.0.binary_search(&entry) {
            self.0.insert(index, entry);
        }
    }

    /// The notes, in the order in which they were added.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Note> {
        self.0.iter().map(|(_, note)| note)
    }

    /// A sentence for each fact.
    pub fn sentences(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(|(sentence, _)| sentence.as_str())
    }

    /// Number of distinct notes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Debug for Notes {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.sentences()).finish()
    }
}

impl Extend<Note> for Notes {
    fn extend<I: IntoIterator<Item = Note>>(&mut self, notes: I) {
        notes.into_iter().for_each(|note| self.insert(note));
    }
}

impl FromIterator<Note> for Notes {
    fn from_iter<I: IntoIterator<Item = Note>>(notes: I) -> Self {
        let mut all = Self::default();
        all.extend(notes);
        all
    }
}

impl Serialize for Notes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("notes", &self.sentences().collect::<Vec<_>>())?;
        map.serialize_entry("facts", &self.iter().collect::<Vec<_>>())?;
        map.end()
    }
}

/// Sentences and their facts as stored.
#[derive(Deserialize)]
struct Stored {
    #[serde(default)]
    notes: Vec<String>,
    #[serde(default)]
    facts: Vec<StoredFact>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum StoredFact {
    Known(Note),
    OfLaterVersion(IgnoredAny),
}

impl<'de> Deserialize<'de> for Notes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Stored { notes, facts } = Stored::deserialize(deserializer)?;
        let mut sentences = notes.into_iter();
        let mut all = Self::default();
        for fact in facts {
            let sentence = sentences.next();
            all.extend(match fact {
                StoredFact::Known(note) => Some(note),
                StoredFact::OfLaterVersion(_) => sentence.map(|text| Note::Said { text }),
            });
        }
        all.extend(sentences.map(|text| Note::Said { text }));
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Coverage;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Each variant, with these values in its fields.
    fn each(number: u64, text: &str) -> Vec<Note> {
        let texts = || (text.to_owned(), text.to_owned());
        let (files, times, calls) = (number, number, number);
        let (file, why) = texts();
        let (case, host) = texts();
        let unit = Nanos(number.cast_signed().saturating_abs());
        let shares = FamilyShare { family: text.to_owned(), calls, of: number };
        vec![
            Note::Said { text: text.to_owned() },
            Note::FilesWithoutTimes { files },
            Note::FilesWithRelativeTimes { files },
            Note::FilesWithoutDate { files },
            Note::CoarseTimes { unit },
            Note::FilesWithoutDurations { files },
            Note::FilesWithoutEvents { files },
            Note::FilesDamaged { files },
            Note::FilesUnreadable { files },
            Note::FilesCut { files, first: file.clone(), line: number },
            Note::FilesWithoutLineEnd { files },
            Note::LongLines { lines: number, bytes: number },
            Note::ThreadsWithoutProcess { threads: number },
            Note::FilesMapped { files },
            Note::AsynchronousRequests { requests: number },
            Note::ClockSetBack { times, largest: unit },
            Note::PresumedRestarts { calls },
            Note::RootsChanged { processes: number },
            Note::LongNames { paths: number },
            Note::UnclearMounts { calls },
            Note::UncertainDescriptors { calls },
            Note::ImportCancelled,
            Note::ClocksDiffer,
            Note::InputLeftOut {
                file: file.clone(),
                more: number,
                partly: number.is_multiple_of(2),
                why: why.clone(),
            },
            Note::InputsLeftOut { more: number },
            Note::CallTableSkipped,
            Note::FunctionsOnly,
            Note::NoMpiCalls,
            Note::CallsWithoutSite { calls: 2 },
            Note::DxtTransfersOnly,
            Note::DxtUnit { unit },
            Note::DxtStartInSeconds,
            Note::DxtModuleIncomplete { module: text.to_owned() },
            Note::DxtDisabled { file: file.clone() },
            Note::DxtTextCut { file: file.clone(), modules: vec![text.to_owned(); (number % 3) as usize] },
            Note::Unfinished,
            Note::RecordingLeftOut { case: number.is_multiple_of(2).then(|| case.clone()), why: why.clone() },
            Note::FromSpool { case: case.clone(), host, pid: number as u32, events: number, why },
            Note::LossesUnreadable { case: case.clone() },
            Note::SpoolDamaged { file, byte: number, what: text.to_owned() },
            Note::CallsRecorded(CallsRecorded {
                asked: text.to_owned(),
                calls,
                of: number,
                machine: text.to_owned(),
                without: vec![text.to_owned()],
                partly: vec![shares],
                memory_of_files_only: number.is_multiple_of(2),
            }),
            Note::ResumeRefused { error: text.to_owned(), times },
            Note::Sampled { each: number },
            Note::CpuLimit { seconds: number },
            Note::CasesWithoutTimes { cases: number },
            Note::CasesWithRelativeTimes { cases: number },
            Note::CaseScattered { case },
            Note::Redacted,
            Note::RedactedByRules { renamed: number, paths: number },
            Note::RedactedTexts { notes: number, examples: number },
        ]
    }

    /// The name of a fact in JSON.
    fn tag(note: &Note) -> String {
        serde_json::to_value(note).unwrap()["fact"].as_str().unwrap().to_owned()
    }

    /// All names that are read, as the error for another name lists them.
    fn tags() -> BTreeSet<String> {
        let error = serde_json::from_str::<Note>(r#"{"fact":"?"}"#).unwrap_err().to_string();
        error.split('`').skip(3).step_by(2).map(str::to_owned).collect()
    }

    #[test]
    fn the_tests_know_every_fact() {
        let tested: BTreeSet<String> = each(1, "x").iter().map(tag).collect();
        assert_eq!(tested, tags());
    }

    #[test]
    fn a_trail_without_facts_keeps_its_sentences() {
        let mut coverage = serde_json::to_value(Coverage::default()).unwrap();
        coverage["notes"] = serde_json::json!(["b", "a"]);
        coverage.as_object_mut().unwrap().remove("facts");
        let coverage: Coverage = serde_json::from_value(coverage).unwrap();
        assert_eq!(coverage.notes.sentences().collect::<Vec<_>>(), ["a", "b"]);
        assert!(coverage.notes.iter().all(|note| matches!(note, Note::Said { .. })));
    }

    #[test]
    fn a_fact_of_a_later_version_is_its_sentence() {
        let json =
            r#"{"notes":["1 moon","x","cut"],"facts":[{"fact":"moons","moons":1},{"fact":"redacted"},7,8]}"#;
        let notes: Notes = serde_json::from_str(json).unwrap();
        let said = |text: &str| Note::Said { text: text.to_owned() };
        assert_eq!(notes, Notes::from_iter([said("1 moon"), Note::Redacted, said("cut")]));
    }

    proptest! {
        #[test]
        fn each_fact_survives_its_json_and_has_a_sentence(number in any::<u64>(), text in "\\PC{1,9}") {
            for note in each(number, &text) {
                let json = serde_json::to_string(&note).unwrap();
                prop_assert_eq!(&serde_json::from_str::<Note>(&json).unwrap(), &note);
                prop_assert!(!note.to_string().trim().is_empty() || matches!(&note, Note::Said { .. }), "{:?}", note);
            }
            let mut coverage = Coverage::default();
            coverage.notes.extend(each(number, &text));
            let json = serde_json::to_string(&coverage).unwrap();
            prop_assert_eq!(serde_json::from_str::<Coverage>(&json).unwrap(), coverage);
        }

        #[test]
        fn facts_unite_in_any_order(a in 0..3_u64, b in 0..3_u64) {
            let (mut one, mut other) = (Notes::from_iter(each(a, "x")), Notes::from_iter(each(b, "y")));
            let (first, second): (Vec<_>, Vec<_>) = (one.iter().cloned().collect(), other.iter().cloned().collect());
            one.extend(second);
            other.extend(first);
            prop_assert_eq!(one, other);
        }
    }
}
