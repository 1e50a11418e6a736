//! Facts of a coverage statement without names. Numbers stay, names are replaced as in the tables, and a fact with a text
//! that nothing takes apart is left out.

use crate::coverage::{is_call_set, kept};
use crate::public;
use crate::words::Words;
use iotrail_model::Note;
use iotrail_model::calls::Family;
use iotrail_model::notes::{CallsRecorded, FamilyShare};

/// The fact without names; `None` if it cannot be told what it names.
pub(crate) fn redacted(note: &Note, words: &Words) -> Option<Note> {
    let redacted = match note.clone() {
        Note::Said { .. }
        | Note::InputLeftOut { .. }
        | Note::RecordingLeftOut { .. }
        | Note::FromSpool { .. }
        | Note::SpoolDamaged { .. }
        | Note::LossesUnreadable { .. }
        | Note::CaseScattered { .. }
        // A copy is finished.
        | Note::Unfinished => return None,
        Note::FilesCut { files, first, line } => Note::FilesCut { files, first: words.path(&first), line },
        Note::DxtDisabled { file } => Note::DxtDisabled { file: words.path(&file) },
        Note::DxtTextCut { file, modules } => {
            let modules = modules.into_iter().map(|module| of_module(&module)).collect();
            Note::DxtTextCut { file: words.path(&file), modules }
        }
        Note::DxtModuleIncomplete { module } => Note::DxtModuleIncomplete { module: of_module(&module) },
        Note::ResumeRefused { error, times } => {
            let stays = public::is_error(&error);
            Note::ResumeRefused { error: kept(&error, stays), times }
        }
        Note::CallsRecorded(calls) => Note::CallsRecorded(of_calls(calls)),
        Note::FilesWithoutTimes { .. }
        | Note::FilesWithRelativeTimes { .. }
        | Note::FilesWithoutDate { .. }
        | Note::CoarseTimes { .. }
        | Note::FilesWithoutDurations { .. }
        | Note::FilesWithoutEvents { .. }
        | Note::FilesDamaged { .. }
        | Note::FilesUnreadable { .. }
        | Note::FilesWithoutLineEnd { .. }
        | Note::LongLines { .. }
        | Note::ThreadsWithoutProcess { .. }
        | Note::FilesMapped { .. }
        | Note::AsynchronousRequests { .. }
        | Note::ClockSetBack { .. }
        | Note::PresumedRestarts { .. }
        | Note::RootsChanged { .. }
        | Note::LongNames { .. }
        | Note::UnclearMounts { .. }
        | Note::UncertainDescriptors { .. }
        | Note::ImportCancelled
        | Note::ClocksDiffer
        | Note::InputsLeftOut { .. }
        | Note::CallTableSkipped
        | Note::FunctionsOnly
        | Note::NoMpiCalls
        | Note::CallsWithoutSite { .. }
        | Note::DxtTransfersOnly
        | Note::DxtUnit { .. }
        | Note::DxtStartInSeconds
        | Note::Sampled { .. }
        | Note::CpuLimit { .. }
        | Note::CasesWithoutTimes { .. }
        | Note::CasesWithRelativeTimes { .. }
        | Note::Redacted
        | Note::RedactedByRules { .. }
        | Note::RedactedTexts { .. } => note.clone(),
    };
    Some(redacted)
}

/// Modules of Darshan that have traces.
fn of_module(module: &str) -> String {
    kept(module, matches!(module, "DXT_POSIX" | "DXT_MPIIO"))
}

fn of_calls(calls: CallsRecorded) -> CallsRecorded {
    CallsRecorded {
        asked: kept(&calls.asked, is_call_set(&calls.asked)),
        machine: kept(&calls.machine, matches!(&*calls.machine, "x86-64" | "arm64")),
        without: calls.without.iter().map(|family| of_family(family)).collect(),
        partly: calls
            .partly
            .into_iter()
            .map(|share| FamilyShare { family: of_family(&share.family), ..share })
            .collect(),
        ..calls
    }
}

fn of_family(name: &str) -> String {
    kept(name, Family::ALL.iter().any(|family| family.name() == name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Key;
    use crate::rules::Rules;

    fn words() -> Words {
        Words::new(Rules::default(), Some(Key::of(b"a secret of tests").unwrap()))
    }

    #[test]
    fn numbers_stay_and_names_are_replaced() {
        let cut = Note::FilesCut { files: 2, first: "/home/quokka/a.st".to_owned(), line: 3 };
        let Some(Note::FilesCut { files: 2, first, line: 3 }) = redacted(&cut, &words()) else {
            panic!("it is kept")
        };
        assert!(first.starts_with("/home/") && !first.contains("quokka"), "{first}");
        let mapped = Note::FilesMapped { files: 7 };
        assert_eq!(redacted(&mapped, &words()), Some(mapped));
    }

    #[test]
    fn what_nothing_can_take_apart_is_left_out() {
        let said = Note::Said { text: "of quokka".to_owned() };
        let input =
            Note::InputLeftOut { file: "a".to_owned(), more: 0, partly: true, why: "quokka".to_owned() };
        assert_eq!([said, input].map(|note| redacted(&note, &words())), [None, None]);
    }
}
