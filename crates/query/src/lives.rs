//! Processes from birth to death: the images that one process executed, one after the other, are one life.
//!
//! The table `processes` has a row for each executable image; ParaTrac's process (Dun et al., "ParaTrac", section 5.2) is
//! what was forked, whatever it executed later. Numbers of processes are used again, so a life is found by case, number
//! and time.

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::{CaseId, Nanos, Pid, Process, Timestamp};
use iotrail_trail::{EventLog, TrailError};
use std::ops::Range;

/// A process from birth to death: an index into [`Lives::all`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[repr(transparent)]
pub struct LifeId(pub u32);

impl LifeId {
    /// The id as an index.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A process from birth to death.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Life {
    /// The recorded case.
    pub case: CaseId,
    /// Process id; the kernel may use it again for another process.
    pub pid: Pid,
    /// The process that made it, if that was recorded.
    pub parent: Option<LifeId>,
    /// Its images, in the order of their starts: indices into [`Lives::images`].
    pub images: Range<usize>,
    /// First sign of life.
    pub start: Option<Timestamp>,
    /// Exit or death; NULL if the end was never seen.
    pub end: Option<Timestamp>,
}

impl Life {
    /// From birth to death, if both were seen.
    #[must_use]
    pub fn span(&self) -> Option<Nanos> {
        Some(self.end? - self.start?)
    }
}

/// All processes of an event log, sorted by case, start and number.
#[derive(Clone, Debug, Default)]
pub struct Lives {
    images: Vec<Process>,
    lives: Vec<Life>,
    of_process: HashMap<(CaseId, Pid), Vec<LifeId>, RandomState>,
    /// The space of each case in which a process has one number; none if each case has its own.
    spaces: Vec<u32>,
    of_space: HashMap<(u32, Pid), Vec<LifeId>, RandomState>,
}

impl Lives {
    /// The lives that the rows of the table `processes` tell of, in any order.
    #[must_use]
    pub fn new(images: Vec<Process>) -> Self {
        Self::in_spaces(images, Vec::new())
    }

    /// The lives of a log. A trace that was written with a file for each thread has a case for each file: threads and children
    /// are found in the other cases of one command and host, where their own case does not know them.
    ///
    /// # Errors
    /// If a table `processes` cannot be read.
    pub fn of_log(log: &EventLog) -> Result<Self, TrailError> {
        let mut numbers: HashMap<(Option<&str>, Option<&str>), u32, RandomState> = HashMap::default();
        let names = log.cases().iter().map(|case| (case.name.cid.as_deref(), case.name.host.as_deref()));
        let spaces = names.map(|name| {
            let next = numbers.len() as u32;
            *numbers.entry(name).or_insert(next)
        });
        let spaces = spaces.collect();
        Ok(Self::in_spaces(log.processes()?, spaces))
    }

    fn in_spaces(mut images: Vec<Process>, spaces: Vec<u32>) -> Self {
        images.sort_by_key(|image| (image.case, image.pid, image.start));
        let mut chains: Vec<Range<usize>> = Vec::new();
        for at in 0..images.len() {
            match chains.last_mut() {
                Some(chain) if goes_on(&images[at - 1], &images[at]) => chain.end = at + 1,
                _ => chains.push(at..at + 1),
            }
        }
        let mut lives: Vec<Life> = chains.into_iter().map(|chain| life(&images, chain)).collect();
        lives.sort_by_key(|life| (life.case, life.start, life.pid));
        let mut of_process: HashMap<_, Vec<LifeId>, RandomState> = HashMap::default();
        for (place, life) in lives.iter().enumerate() {
            of_process.entry((life.case, life.pid)).or_default().push(LifeId(place as u32));
        }
        let mut of_space: HashMap<_, Vec<LifeId>, RandomState> = HashMap::default();
        for (place, life) in lives.iter().enumerate() {
            if let Some(space) = spaces.get(life.case.index()) {
                of_space.entry((*space, life.pid)).or_default().push(LifeId(place as u32));
            }
        }
        of_space.values_mut().for_each(|ids| ids.sort_by_key(|id| lives[id.index()].start));
        let mut lives = Self { images, lives, of_process, spaces, of_space };
        for place in 0..lives.lives.len() {
            lives.lives[place].parent = lives.parent(LifeId(place as u32));
        }
        lives
    }

    /// All of them, by [`LifeId`].
    #[must_use]
    pub fn all(&self) -> &[Life] {
        &self.lives
    }

    /// The life of that id.
    #[must_use]
    pub fn get(&self, id: LifeId) -> &Life {
        &self.lives[id.index()]
    }

    /// The images of a life, in the order of their starts; never empty.
    #[must_use]
    pub fn images(&self, id: LifeId) -> &[Process] {
        &self.images[self.get(id).images.clone()]
    }

    /// Working directory of the first process: where the recording began.
    #[must_use]
    pub fn first_directory(&self) -> Option<&str> {
        self.images.get(self.lives.first()?.images.start)?.cwd.as_deref()
    }

    /// The image that a life ended with: what it is known as.
    #[must_use]
    pub fn last_image(&self, id: LifeId) -> &Process {
        &self.images[self.get(id).images.end - 1]
    }

    /// The process of that number at that time; before the first of that number it is the first. If the case knows none, one
    /// that lived then in another case of its space.
    #[must_use]
    pub fn find(&self, case: CaseId, pid: Pid, at: Timestamp) -> Option<LifeId> {
        match self.of_process.get(&(case, pid)) {
            Some(lives) => Some(lives[self.begun(lives, at).saturating_sub(1)]),
            None => self.find_in_space(case, pid, at),
        }
    }

    fn find_in_space(&self, case: CaseId, pid: Pid, at: Timestamp) -> Option<LifeId> {
        let found = self.latest_in_space(case, pid, at)?;
        self.get(found).end.is_none_or(|end| end >= at).then_some(found)
    }

    /// The last process of that number in the space of the case that had begun.
    fn latest_in_space(&self, case: CaseId, pid: Pid, at: Timestamp) -> Option<LifeId> {
        let lives = self.of_space.get(&(*self.spaces.get(case.index())?, pid))?;
        Some(lives[self.begun(lives, at).checked_sub(1)?])
    }

    /// How many of these had begun.
    fn begun(&self, lives: &[LifeId], at: Timestamp) -> usize {
        lives.partition_point(|id| self.get(*id).start.is_none_or(|start| start <= at))
    }

    /// The parent, which began before its child; a process that is its own ancestor by a wrong table has none.
    fn parent(&self, id: LifeId) -> Option<LifeId> {
        let life = self.get(id);
        let ppid = self.images(id).first()?.ppid?;
        let start = life.start.unwrap_or(Timestamp(i64::MAX));
        // A file of its own tells of a process from its first call on; who made it may have ended by then, as daemons do.
        let parent =
            self.find(life.case, ppid, start).or_else(|| self.latest_in_space(life.case, ppid, start))?;
        let earlier =
            |one: LifeId, other: LifeId| (self.get(one).start, one) < (self.get(other).start, other);
        earlier(parent, id).then_some(parent)
    }
}

/// Whether `next` is the image that `image` was replaced by: a row that ended with neither status nor signal ended with an exec.
fn goes_on(image: &Process, next: &Process) -> bool {
    (image.case, image.pid) == (next.case, next.pid) && image.is_replaced()
}

fn life(images: &[Process], chain: Range<usize>) -> Life {
    let (first, last) = (&images[chain.start], &images[chain.end - 1]);
    Life {
        case: first.case,
        pid: first.pid,
        parent: None,
        start: first.start,
        end: last.end.filter(|_| last.exit_code.is_some() || last.signal.is_some()),
        images: chain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(pid: u32, ppid: u32, from: i64, to: Option<i64>, exit: Option<i32>) -> Process {
        Process {
            pid: Pid(pid),
            ppid: Some(Pid(ppid)),
            start: Some(Timestamp(from)),
            end: to.map(Timestamp),
            exit_code: exit,
            ..Process::default()
        }
    }

    #[test]
    fn an_exec_goes_on_and_a_number_used_again_is_another_process() {
        let lives = Lives::new(vec![
            image(7, 1, 10, Some(20), None),
            image(7, 1, 20, Some(30), Some(0)),
            image(7, 1, 40, None, None),
            image(1, 0, 0, None, None),
            image(8, 7, 25, Some(50), Some(1)),
        ]);
        let seen: Vec<_> =
            lives.all().iter().map(|life| (life.pid.0, life.parent, life.images.len())).collect();
        let (one, seven) = (LifeId(0), LifeId(1));
        assert_eq!(seen, [(1, None, 1), (7, Some(one), 2), (8, Some(seven), 1), (7, Some(one), 1)]);
        assert_eq!(lives.get(seven).span(), Some(Nanos(20)));
        assert_eq!(lives.get(one).span(), None);
        let find = |at| lives.find(CaseId(0), Pid(7), Timestamp(at));
        assert_eq!([find(5), find(39), find(40)], [Some(seven), Some(seven), Some(LifeId(3))]);
        assert_eq!(lives.find(CaseId(1), Pid(7), Timestamp(0)), None);
    }

    #[test]
    fn what_a_case_does_not_know_is_found_in_another_one_of_its_space() {
        let in_case = |case: u32, image: Process| Process { case: CaseId(case), ..image };
        let images = vec![
            in_case(0, image(1, 0, 0, Some(100), Some(0))),
            in_case(1, image(7, 1, 10, Some(20), Some(0))),
            in_case(2, image(8, 7, 30, Some(40), Some(0))),
        ];
        let apart = Lives::new(images.clone());
        assert!(apart.all().iter().all(|life| life.parent.is_none()));
        let lives = Lives::in_spaces(images, vec![0, 0, 0]);
        let parents: Vec<_> = lives.all().iter().map(|life| life.parent).collect();
        assert_eq!(
            parents,
            [None, Some(LifeId(0)), Some(LifeId(1))],
            "process 7 had ended before the first call of 8"
        );
        let find = |case, pid, at| lives.find(CaseId(case), Pid(pid), Timestamp(at));
        assert_eq!([find(2, 7, 15), find(2, 7, 25), find(2, 7, 5)], [Some(LifeId(1)), None, None]);
    }

    #[test]
    fn nobody_is_born_before_its_parent() {
        let lives = Lives::new(vec![image(1, 2, 5, None, None), image(2, 1, 5, None, None)]);
        let parents: Vec<_> = lives.all().iter().map(|life| life.parent).collect();
        assert_eq!(parents, [None, Some(LifeId(0))]);
    }
}
