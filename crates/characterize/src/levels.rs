//! How much of a recording a model has: levels, their sizes and how far they are from the recording.

use crate::fit::Fit;
use crate::names::{Kinds, Naming};
use crate::paper::{PaperClasses, made, measured, paper};
use crate::program::{Level, Modelled, Programmed};
use crate::sessions::RankSessions;
use crate::streams::Frame;
use iotrail_workload::{Distance, Group, Profile};
use serde::Serialize;

/// The figure of waits for other ranks.
const WAITS: &str = "waits";

/// A level of a model beside the recording.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LevelFigures {
    /// Which.
    pub level: Level,
    /// Bytes of the model file.
    pub model_bytes: u64,
    /// The figure that is furthest from that of the recording, beside what is tolerated.
    pub worst: &'static str,
    /// How far: of totals the difference, of distributions that of Wasserstein, both as shares of the mean; of mixes the total variation.
    /// Infinite (`null` in JSON) if the recording has none of it.
    pub distance: f64,
    /// Whether all figures are near enough.
    pub within: bool,
    /// Whether the model is of this level.
    pub chosen: bool,
}

/// What levels are compared with.
pub(crate) struct Recording<'a> {
    pub(crate) frame: &'a Frame,
    pub(crate) kinds: &'a Kinds,
    pub(crate) ranks: &'a [RankSessions],
    pub(crate) groups: &'a [Group],
    /// Barriers of all ranks.
    pub(crate) barriers: u64,
}

/// A model of a level, and how far it is.
struct Candidate {
    modelled: Modelled,
    fit: Fit,
    level: Level,
    distances: Vec<Distance>,
}

impl Candidate {
    fn is_within(&self) -> bool {
        self.distances.iter().all(Distance::is_within)
    }

    /// Whether ranks wait for each other where those of the recording did.
    fn waits(&self) -> bool {
        self.distances.iter().all(|distance| distance.figure != WAITS || distance.is_within())
    }

    /// Whether a figure is near enough in the other one and not in this one.
    fn misses(&self, other: &Self) -> bool {
        self.distances
            .iter()
            .zip(&other.distances)
            .any(|(own, others)| !own.is_within() && others.is_within())
    }

    fn figures(&self) -> LevelFigures {
        let worst = self.distances.iter().max_by(|one, other| one.excess().total_cmp(&other.excess()));
        LevelFigures {
            level: self.level,
            model_bytes: self.modelled.model.to_string().len() as u64,
            worst: worst.map_or("", |worst| worst.figure),
            distance: worst.map_or(0.0, |worst| worst.distance),
            within: self.is_within(),
            chosen: false,
        }
    }
}

/// The model of a level, how it fits, and what each level comes to.
pub(crate) fn chosen(
    of: &Recording<'_>,
    programmed: &Programmed,
    naming: Naming,
    wanted: Level,
) -> (Modelled, Fit, Vec<LevelFigures>) {
    let classes = PaperClasses::of(of.kinds);
    let recorded = measured(of.ranks, of.groups, &classes);
    let fine = PaperClasses::of_validation(of.kinds);
    let recorded_fine = measured(of.ranks, of.groups, &fine);
    let (program, length) = programmed.program();
    let joint = programmed.joint();
    let paper = paper(of.frame, of.ranks, of.groups, &classes, &recorded);
    let candidates = [(paper, Level::Paper), (joint, Level::Joint), (program, Level::Program)];
    let candidates = candidates.map(|(modelled, level)| {
        let fit = Fit::of(&modelled, of.ranks, of.barriers);
        (modelled, level, fit)
    });
    let exact = candidates.iter().find(|(_, level, _)| *level == Level::Program);
    let exact = exact.and_then(|(.., fit)| fit.exact_share());
    let candidates: Vec<Candidate> = candidates
        .into_iter()
        .map(|(modelled, level, fit)| {
            // A path that is drawn has the classes of the paper alone.
            let (classes, recorded) = match level {
                Level::Paper => (&classes, &recorded),
                _ => (&fine, &recorded_fine),
            };
            let of_model = class_of(&modelled, of, classes);
            let made =
                made(&modelled.model, of.groups, |file| of_model.get(file).copied().unwrap_or_default());
            let mut distances = distances(recorded, &made, (&fit, exact, programmed.drawn() > 0));
            // Waits for other ranks are in programs alone.
            let waits = programmed.waits.iter().any(|wait| wait.kept) && !modelled.model.has_waits()
                || programmed.has_messages && !modelled.model.has_messages()
                || level == Level::Joint && programmed.has_parts_across_barriers();
            // Models that draw a path make system calls.
            let layers = programmed.has_mpi_io() && !modelled.model.has_mpi_io();
            // Nor do they keep where the places of ranks are, and which reads find what was written.
            let parts = programmed.has_kept_draws() && !modelled.model.has_kept_draws();
            // What is read of a file that is cut depends on what came before.
            let lengths = programmed.cuts_what_others_use() && level != Level::Program;
            let lacks = [
                (WAITS, waits),
                ("layers", layers),
                ("parts of ranks", parts),
                ("lengths of files", lengths),
            ];
            distances.extend(lacks.map(|(figure, lacks)| Distance {
                figure,
                distance: f64::from(u8::from(lacks)),
                tolerance: 0.0,
            }));
            Candidate { modelled, fit, level, distances }
        })
        .collect();
    let mut figures: Vec<LevelFigures> = candidates.iter().map(Candidate::figures).collect();
    let level = match wanted {
        Level::Auto => automatic(&candidates, naming, length),
        level => level,
    };
    figures.iter_mut().for_each(|figures| figures.chosen = figures.level == level);
    let found = candidates.into_iter().find(|candidate| candidate.level == level);
    match found {
        Some(Candidate { modelled, fit, .. }) => (modelled, fit, figures),
        None => {
            let joint = programmed.joint();
            let fit = Fit::of(&joint, of.ranks, of.barriers);
            (joint, fit, figures)
        }
    }
}

/// A longer program is written as how often each session occurs between barriers, if that is as near.
const LONG: usize = 400;
/// The same, unless nothing else has the ranks wait for each other.
const LONGEST: usize = 10_000;

/// The first level that is near enough. Names are kept in programs alone. A program of so many lines may be too long to be read, unless nothing
/// else has the ranks wait for each other: where one reads what another makes, its calls would fail.
fn automatic(candidates: &[Candidate], naming: Naming, length: usize) -> Level {
    let of = |level| candidates.iter().find(|candidate| candidate.level == level);
    let both = of(Level::Joint).zip(of(Level::Program));
    let waits_alone = both.is_some_and(|(joint, program)| program.waits() && !joint.waits());
    let joint_misses = both.is_some_and(|(joint, program)| joint.misses(program));
    let fits = length <= LONG || joint_misses && length <= LONGEST || waits_alone;
    let possible = |level| match level {
        Level::Paper => naming == Naming::Anonymous,
        Level::Program => fits,
        Level::Joint | Level::Auto => true,
    };
    let near = candidates.iter().find(|candidate| possible(candidate.level) && candidate.is_within());
    near.map_or(if fits { Level::Program } else { Level::Joint }, |candidate| candidate.level)
}

/// Of each file of a model its class.
fn class_of(modelled: &Modelled, of: &Recording<'_>, classes: &PaperClasses) -> Vec<usize> {
    let mut found = vec![0; modelled.model.files.len()];
    for (rank, targets) in of.ranks.iter().zip(&modelled.targets) {
        for (execution, target) in rank.executions.iter().zip(targets) {
            found[target.file()] = classes.of_kind[execution.kind];
        }
    }
    found
}

/// How far a model is: the figures of table III, and where transfers are. Where laws hold these are places of ranks, else distributions.
fn distances(
    recorded: &Profile,
    made: &Profile,
    (fit, exact, lawless): (&Fit, Option<f64>, bool),
) -> Vec<Distance> {
    let mut all = recorded.distances(made);
    if let (Some(share), Some(exact)) = (fit.exact_share(), exact) {
        all.retain(|distance| lawless || distance.figure != "offsets");
        all.push(Distance { figure: "places", distance: 1.0 - share, tolerance: 1.0 - exact });
    }
    let barriers = fit.barriers[0].abs_diff(fit.barriers[1]) as f64 / fit.barriers[0].max(1) as f64;
    all.push(Distance { figure: "barriers", distance: barriers, tolerance: 0.0 });
    all
}
