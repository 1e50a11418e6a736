//! Files of all ranks become files of each rank, or the other way round.

use super::KnobError;
use crate::model::{
    Action, Model, NameCall, OffsetLaw, PlaceRun, ProgramStep, SessionLayer, Sharing, Stride, synthesise,
};
use std::ops::ControlFlow;

/// So many ranks decide at most how far a rank's part of a file reaches.
const RANKS: u32 = 4;

/// Lets files that hold bytes be private or shared: each rank moves as many bytes as before, in the same order.
pub(super) fn share(model: &mut Model, wanted: Sharing) -> Result<(), KnobError> {
    let files: Vec<usize> = (0..model.files.len())
        .filter(|file| match (wanted, model.files[*file].class) {
            (Sharing::Private, Sharing::Shared) | (Sharing::Shared, Sharing::Private) => {
                !model.files[*file].sessions.is_empty() || !model.files[*file].statistics.is_empty()
            }
            _ => false,
        })
        .collect();
    let ranks = u64::from(model.ranks_of_run(None));
    for file in files {
        let ends = if wanted == Sharing::Shared { Some(end_of_rank(model, file)) } else { None };
        let of = &mut model.files[file];
        match ends {
            None => {
                of.name.push_str(".%r");
                of.sessions.iter_mut().for_each(|session| {
                    session.layer = session.layer.min(SessionLayer::MpiIo);
                    session.offset = alone(&session.offset);
                    session.write_offset = session.write_offset.as_ref().map(alone);
                });
            }
            Some(end) => {
                of.name = of_all(&of.name);
                for session in &mut of.sessions {
                    let sizes = [&session.sizes, &session.write_sizes];
                    let size = sizes.iter().flat_map(|sizes| sizes.keys()).copied().collect::<Vec<_>>();
                    let appends = session.mode.append;
                    session.mode.truncate = false;
                    let law = |law: &OffsetLaw| together(law, end, &size, appends);
                    let name = of.name.clone();
                    session.offset =
                        law(&session.offset).map_err(|why| KnobError::NotShared(name.clone(), why))?;
                    let written = session.write_offset.as_ref().map(law).transpose();
                    session.write_offset = written.map_err(|why| KnobError::NotShared(name, why))?;
                }
                // The parts of all ranks, if each had a file that was there before.
                of.size = if of.size > 0 { end.saturating_mul(ranks) } else { 0 };
            }
        }
        of.class = wanted;
        of.lengths.clear();
        if wanted == Sharing::Shared {
            keep_name(&mut model.steps, file);
        }
    }
    Ok(())
}

/// A name without the rank.
fn of_all(name: &str) -> String {
    let is_apart = |text: &str, end: fn(&str) -> Option<char>| !end(text).is_some_and(char::is_alphanumeric);
    let mut parts = name.split("%r");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |before, behind| {
        let left = if is_apart(&before, |text| text.chars().next_back()) { "" } else { "-" };
        let right = if is_apart(behind, |text| text.chars().next()) { "" } else { "-" };
        format!("{before}{left}all{right}{behind}")
    })
}

/// What all ranks rename keeps its name: only the first of them would find it.
fn keep_name(steps: &mut [ProgramStep], shared: usize) {
    for step in steps {
        match step {
            ProgramStep::Repeat(_, steps) => keep_name(steps, shared),
            // One more name can be given once.
            ProgramStep::Call { call, file, to, .. }
                if *call == NameCall::Link && (*file == shared || *to == Some(shared)) =>
            {
                (*call, *to) = (NameCall::Stat, None);
            }
            ProgramStep::Call { file, to, .. } if *file == shared => *to = None,
            _ => {}
        }
    }
}

/// The places of a rank in a file of its own: one behind the other, where ranks took turns.
fn alone(law: &OffsetLaw) -> OffsetLaw {
    match *law {
        OffsetLaw::Affine { start, step, again, every, jump, .. } => {
            let own = |stride: Stride| Stride::fixed(stride.bytes);
            let goes_back = [step, again, jump].iter().any(|stride| stride.bytes < 0);
            OffsetLaw::Affine {
                // Towards the begin of the file, where the first rank begins.
                start: if goes_back { start } else { 0 },
                rank: 0,
                step: own(step),
                again: own(again),
                every,
                jump: own(jump),
                shift: 0,
            }
        }
        OffsetLaw::Runs(ref runs) => OffsetLaw::Runs(runs.iter().map(|run| run.alone()).collect()),
        _ => in_parts(law, 0),
    }
}

/// The places of a rank in a file of all, behind those of the rank before.
fn together(law: &OffsetLaw, end: u64, sizes: &[u64], appends: bool) -> Result<OffsetLaw, &'static str> {
    match (law, sizes) {
        (&OffsetLaw::Affine { start, step, again, every, jump, shift, .. }, _) => {
            Ok(OffsetLaw::Affine { start, rank: end, step, again, every, jump, shift })
        }
        (OffsetLaw::Sequential, []) => Ok(OffsetLaw::Sequential),
        (OffsetLaw::Sequential, _) if appends => Ok(OffsetLaw::Sequential),
        (OffsetLaw::Sequential, [size]) => Ok(OffsetLaw::Affine {
            start: 0,
            rank: end,
            step: Stride::fixed(i64::try_from(*size).unwrap_or(i64::MAX)),
            again: Stride::default(),
            every: 0,
            jump: Stride::default(),
            shift: 0,
        }),
        (OffsetLaw::Sequential, _) => {
            Err("its transfers follow each other with different sizes; give it one size, or a law of offsets")
        }
        (OffsetLaw::Drawn { .. }, _) => Ok(in_parts(law, end)),
        (OffsetLaw::Runs(runs), _) => {
            Ok(OffsetLaw::Runs(runs.iter().map(|run| PlaceRun { rank: end, ..*run }).collect()))
        }
    }
}

/// Places that are drawn in parts of ranks that begin so many bytes apart.
fn in_parts(law: &OffsetLaw, bytes: u64) -> OffsetLaw {
    let mut law = law.clone();
    if let OffsetLaw::Drawn { rank, .. } = &mut law {
        *rank = bytes;
    }
    law
}

/// The end of the furthest transfer of a rank in a file.
fn end_of_rank(model: &Model, wanted: usize) -> u64 {
    let ranks = model.ranks_of_run(None);
    let mut end = model.files[wanted].size;
    for rank in 0..ranks.min(RANKS) {
        let ended = synthesise(model, (rank, ranks), 0, &mut |step| {
            if let (Action::Transfer { offset, size, .. }, Some((file, _))) = (step.action, step.of)
                && file == wanted
            {
                end = end.max(offset.saturating_add(size));
            }
            ControlFlow::<()>::Continue(())
        });
        debug_assert!(ended.is_continue());
    }
    end
}
