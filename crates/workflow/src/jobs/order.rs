//! Jobs with all that is known of them, in an order in which they can run.

use super::changed_names::is_at;
use super::divide::Division;
use super::environment::{USUAL_UMASK, environment};
use super::find::JobDrafts;
use super::group::Together;
use super::history::{History, NameHistory};
use super::own_actions::is_of_workflow;
use super::programs::{Program, ProgramId, Programs, name};
use super::watched::watch;
use super::{Issue, Job, JobFile, JobId, Jobs, Left, Script};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::{Nanos, PathId, Timestamp};
use iotrail_query::{ProcessId, ProcessTable};
use iotrail_trail::EventLog;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::sync::Arc;

/// Puts everything together.
pub(crate) fn assemble(
    log: &EventLog,
    processes: &ProcessTable,
    programs: &Programs,
    found: JobDrafts,
) -> Jobs {
    let JobDrafts { division, together, scripts, history, not_exported, whole } = found;
    let mut members: Vec<Vec<ProcessId>> = vec![Vec::new(); together.groups.len()];
    for (index, program) in programs.last.iter().enumerate() {
        let head = program.and_then(|program| division.of_program[program.index()]);
        if let Some(head) = head {
            members[together.of_head[head as usize] as usize].push(ProcessId(index as u32));
        }
    }
    let permitted =
        history.permitted.iter().map(|path| format!("it changed the permissions of {path} itself"));
    let not_exported: BTreeSet<String> = not_exported.into_iter().chain(permitted).collect();
    let mut issues: Vec<Issue> = not_exported.into_iter().map(|why| Issue::NotExported { why }).collect();
    issues.extend(programs.unplaced.first().map(|path| Issue::Unplaced {
        path: log.names().paths[path.index()].clone(),
        more: programs.unplaced.len() as u64 - 1,
    }));
    let (environment, variables) = environment(programs, processes);
    if !variables.is_empty() {
        issues.push(Issue::Environment { variables });
    }
    if log.coverage().recording.is_none() {
        issues.push(Issue::UnknownEnvironment);
    }
    if !history.time_dependent.is_empty() {
        let jobs = history.time_dependent.iter().map(|job| JobId(*job)).collect();
        issues.push(Issue::Times { jobs });
    }
    if !history.perhaps_time_dependent.is_empty() {
        let jobs = history.perhaps_time_dependent.iter().map(|job| JobId(*job)).collect();
        issues.push(Issue::MayUseTimes { jobs });
    }
    if !history.exchangers.is_empty() {
        let jobs = history.exchangers.iter().map(|job| JobId(*job)).collect();
        issues.push(Issue::Exchanges { jobs });
    }
    issues.extend(history.outside.iter().cloned().map(|path| Issue::WroteOutside { path }));
    let mut jobs: Vec<Job> = Vec::with_capacity(together.groups.len());
    for (number, ((heads, script), members)) in together.groups.iter().zip(scripts).zip(members).enumerate() {
        let id = JobId(number as u32);
        let head_programs: Vec<ProgramId> = heads.iter().map(|head| division.heads[*head as usize]).collect();
        for program in &head_programs {
            issues.extend(whole.get(program).map(|why| Issue::Whole { job: id, why: why.clone() }));
        }
        let of_job = |program: &ProgramId| {
            division.of_program[program.index()]
                .is_some_and(|head| together.of_head[head as usize] as usize == number)
        };
        issues.extend(
            programs
                .read_outside
                .iter()
                .find(|(program, _)| of_job(program))
                .map(|_| Issue::ReadsOutside { job: id }),
        );
        let forced = |program: &ProgramId| {
            programs.get(*program).parent.is_some_and(|parent| division.forced[parent.index()])
        };
        if heads.iter().any(|head| together.to_manager.contains(head)) && head_programs.iter().any(forced) {
            issues.push(Issue::PipeToManager { job: id });
        }
        let (job, why_not) = job(log, processes, programs, &head_programs, script, members);
        issues.extend(why_not.map(|why| Issue::CannotRun { job: id, why }));
        jobs.push(job);
    }
    let sizes: HashMap<&str, i64, RandomState> =
        log.files().iter().filter_map(|file| Some((&*file.path, file.size?))).collect();
    // A recorder looks how long the files are at the end that were opened to be written.
    let at_end = log.coverage().recording.is_some_and(|recording| recording.broken_off == 0);
    let mut needs: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); jobs.len()];
    for (job, needed) in &history.needs {
        needs[*job as usize].insert(*needed);
    }
    let aids = aids(&history, &division, &together, programs);
    files(&history, (&sizes, at_end), &aids, &mut jobs, &mut issues);
    let of_aids: BTreeSet<ProcessId> =
        aids.iter().flat_map(|job| jobs[*job as usize].processes.iter().copied()).collect();
    let directories = directories(&history, &mut jobs, &mut needs);
    let groups = break_cycles(&jobs, &mut needs);
    again(&history, log, &needs, &mut jobs);
    let texts = |paths: Vec<PathId>| paths.into_iter().map(|path| name(log.names(), path).clone()).collect();
    let kept = texts(history.again.kept.clone());
    let lost = history.again.lost(&needs).collect();
    let unordered = texts(history.again.unordered(&needs).collect());
    watch(&mut jobs, processes, log.names(), &history, &directories);
    issues.extend(groups.into_iter().map(|jobs| Issue::Cycle { jobs }));
    let home: Option<Arc<str>> = processes.first_directory().map(Arc::from);
    let matters = |path: &&Arc<str>| is_of_workflow(home.as_deref(), path);
    let paths: Vec<Arc<str>> = history.made_by_managers.iter().filter(matters).cloned().collect();
    if !paths.is_empty() {
        issues.push(Issue::ManagerMade { paths });
    }
    let base = home.as_deref().map(|home| super::base::base(home, &jobs, &directories, log.names()));
    let aliases = base
        .as_deref()
        .map(|base| super::base::aliases(base, processes, programs, log.names()))
        .unwrap_or_default();
    for (number, job) in jobs.iter().enumerate() {
        let why = base.as_deref().and_then(|base| super::base::immovable(base, job, log.names()));
        issues.extend(why.map(|why| Issue::CannotRun { job: JobId(number as u32), why }));
    }
    let home = home.filter(|home| Some(home) != base.as_ref());
    issues.extend(home.clone().zip(base.clone()).map(|(home, base)| Issue::Above { home, base }));
    issues.extend(base.as_deref().and_then(|base| outside(&jobs, base)));
    let manager = programs
        .all
        .first()
        .filter(|_| division.manager.first() == Some(&true))
        .and_then(|program| programs.image(program, processes).cmdline.as_deref().map(Arc::from));
    own_issues(&jobs, &mut issues);
    issues.extend(super::other_users::other_users(&jobs, processes));
    let listed = base.as_ref().and_then(|base| history.listed.get(base)).into_iter().flatten();
    let listed: BTreeSet<u32> = listed.copied().collect();
    if !listed.is_empty() {
        issues.push(Issue::ListsBase { jobs: listed.into_iter().map(JobId).collect() });
    }
    issues.extend(lists_trail(&history, log));
    let order = order(&jobs, &needs);
    let span = span(processes);
    let files = log.distinct_files();
    let shared = history.again.shared.iter().filter_map(|file| files.get(file.index()));
    let shared = shared.flat_map(|file| &file.names).map(|file| name(log.names(), file.path).clone());
    let shared: BTreeSet<Arc<str>> = shared.collect();
    let mut jobs = Jobs {
        jobs,
        manager,
        shared: shared.into_iter().collect(),
        kept,
        lost,
        unordered,
        of_managers: history.of_managers,
        base,
        home,
        aliases,
        directories,
        environment,
        umask: programs.initial_umask.filter(|umask| *umask != USUAL_UMASK),
        issues,
        aggregated: false,
        span,
    };
    renumber(&mut jobs, &order, &needs);
    if of_aids.is_empty() {
        return jobs;
    }
    let kept = jobs.jobs.iter().map(|job| !job.processes.iter().any(|process| of_aids.contains(process)));
    jobs.keep(&kept.collect::<Vec<bool>>())
}

/// Jobs that only a workflow system had any use for (Snakemake asks `cbc` which jobs to run): they read what it wrote itself, and of
/// what they made nothing is left and no other job used anything.
fn aids(history: &History, division: &Division, together: &Together, programs: &Programs) -> BTreeSet<u32> {
    let of_system = |head: &u32| {
        let parent = programs.get(division.heads[*head as usize]).parent;
        parent.is_some_and(|parent| division.system[parent.index()])
    };
    let groups = together.groups.iter().enumerate().filter(|(_, heads)| heads.iter().all(of_system));
    let mut aids: BTreeSet<u32> = groups.map(|(number, _)| number as u32).collect();
    let mut instructed = BTreeSet::new();
    for (_, name) in &history.names {
        let lasts = name.exists != Some(false);
        for (job, used) in &name.uses {
            if name.by_manager && used.input {
                instructed.insert(*job);
            }
            if used.output && (lasts || name.uses.len() > 1) {
                aids.remove(job);
            }
        }
    }
    for (_, who) in &history.directories {
        who.iter().for_each(|job| aids.retain(|aid| aid != job));
    }
    aids.intersection(&instructed).copied().collect()
}

/// The jobs that listed the directory in which the trail lay while it was recorded.
fn lists_trail(history: &History, log: &EventLog) -> Option<Issue> {
    log.coverage().recording.as_ref()?;
    let path = std::path::absolute(log.trails().first()?.path()).ok()?;
    let place = path.parent()?.to_str()?;
    let lists = |directory: PathId| &**name(log.names(), directory) == place;
    let listed = history.again.listed.iter().filter(|(_, directory)| lists(*directory));
    let jobs: BTreeSet<JobId> = listed.map(|(job, _)| JobId(*job)).collect();
    let trail = path.file_name()?.to_str()?.into();
    (!jobs.is_empty()).then(|| Issue::ListsTrail { jobs: jobs.into_iter().collect(), trail })
}

/// What jobs must find, leave and make, if they run again.
fn again(history: &History, log: &EventLog, needs: &[BTreeSet<u32>], jobs: &mut [Job]) {
    let text = |path: PathId| name(log.names(), path).clone();
    for (job, (finds, leaves)) in jobs.iter_mut().zip(history.again.states(needs, &text)) {
        (job.finds, job.leaves) = (finds, leaves);
    }
    for (job, made) in &history.again.made {
        jobs[*job as usize].made.push(made.clone());
    }
    for (job, path) in &history.again.looked {
        // What a link leads to does not matter to who makes it.
        if &*jobs[*job as usize].name != "ln" {
            jobs[*job as usize].found.push(text(*path));
        }
    }
    for (job, path) in &history.again.met {
        jobs[*job as usize].met.push(text(*path));
    }
    for (job, directory) in &history.again.listed {
        jobs[*job as usize].listed.push(text(*directory));
    }
    for (job, path) in &history.again.moves {
        jobs[*job as usize].moves.push(text(*path));
    }
    for (job, names) in &history.again.renames {
        jobs[*job as usize].renames.push(names.map(text));
    }
    for (job, directory) in &history.again.cleared {
        jobs[*job as usize].clears.push(text(*directory));
    }
    for job in jobs {
        job.made.sort_by(|a, b| a.path.cmp(&b.path));
        job.found.sort();
        job.found.dedup();
        job.clears.sort();
    }
}

/// What jobs write outside of the directory that an export stands for.
fn outside(jobs: &[Job], base: &str) -> Option<Issue> {
    let within =
        |path: &str| path.strip_prefix(base.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'));
    let files = jobs.iter().flat_map(|job| &job.outputs).filter(|file| file.stays && !within(&file.path));
    let paths: BTreeSet<&Arc<str>> = files.map(|file| &file.path).collect();
    let path = (*paths.first()?).clone();
    Some(Issue::Outside { path, more: paths.len() as u64 - 1 })
}

fn span(processes: &ProcessTable) -> Option<(Timestamp, Timestamp)> {
    let start = processes.all().iter().filter_map(|process| process.start).min()?;
    let end = processes.all().iter().filter_map(|process| process.end).max()?;
    Some((start, end))
}

fn job(
    log: &EventLog,
    processes: &ProcessTable,
    programs: &Programs,
    heads: &[ProgramId],
    script: Result<Script, String>,
    members: Vec<ProcessId>,
) -> (Job, Option<String>) {
    let image = |head: &ProgramId| programs.image(programs.get(*head), processes);
    let (script, why_not) = match script {
        Ok(script) => (Some(script), None),
        Err(why) => (None, Some(why)),
    };
    let name = script.as_ref().map_or_else(
        || {
            let exe = heads.first().and_then(|head| image(head).exe.as_deref()).unwrap_or("?");
            exe.rsplit('/').next().unwrap_or_default().to_owned()
        },
        Script::name,
    );
    let images = || members.iter().flat_map(|&process| processes.images(process));
    let cpu = images().filter_map(|image| Some(image.usage.user?.0.saturating_add(image.usage.system?.0)));
    // Its status is that of the command that is last on the line.
    let last_process =
        script.as_ref().and_then(|script| script.commands().last().map(|command| command.process));
    let last_process = last_process.or_else(|| heads.last().map(|head| programs.get(*head).process));
    let last = last_process.map(|process| processes.last_image(process));
    let redone: Vec<&Program> =
        heads.iter().map(|head| programs.get(*head)).filter(|program| program.is_redone()).collect();
    let starts = members.iter().filter_map(|&process| processes.get(process).start);
    let ends = members.iter().map(|&process| processes.get(process).end);
    let ends: Option<Vec<Timestamp>> = ends.chain(redone.iter().map(|program| program.until)).collect();
    // What a manager did has no status of its own.
    let last = last.filter(|_| redone.len() < heads.len());
    let moved = |bytes: i64| u64::try_from(bytes).unwrap_or(0);
    let job = Job {
        script,
        name: name.into(),
        host: heads.first().map(|head| programs.get(*head).process).and_then(|process| {
            log.cases().get(processes.get(process).case.index())?.name.host.as_deref().map(Arc::from)
        }),
        start: starts.chain(redone.iter().filter_map(|program| program.start)).min(),
        end: ends.and_then(|ends| ends.into_iter().max()),
        cpu: cpu.reduce(i64::saturating_add).map(Nanos),
        memory: images().filter_map(|image| image.usage.max_memory).max(),
        read: images().map(|image| moved(image.bytes_read)).fold(0, u64::saturating_add),
        written: images().map(|image| moved(image.bytes_written)).fold(0, u64::saturating_add),
        exit_code: last.and_then(|image| image.exit_code),
        signal: last.and_then(|image| image.signal.as_deref().map(Arc::from)),
        processes: members,
        members: 1,
        ..Job::default()
    };
    (job, why_not)
}

fn files(
    history: &History,
    (sizes, at_end): (&HashMap<&str, i64, RandomState>, bool),
    aids: &BTreeSet<u32>,
    jobs: &mut [Job],
    issues: &mut Vec<Issue>,
) {
    let is_of_aids =
        |name: &NameHistory| !aids.is_empty() && name.uses.iter().all(|(job, _)| aids.contains(job));
    for (path, name) in history.names.iter().filter(|(_, name)| !is_of_aids(name)) {
        let writers: Vec<JobId> =
            name.uses.iter().filter(|(_, used)| used.output).map(|(job, _)| JobId(*job)).collect();
        let stays = name.exists != Some(false);
        if writers.len() > 1 {
            issues.push(Issue::SharedOutput { path: path.clone(), jobs: writers.clone() });
        }
        if name.from_manager || (name.by_manager && !writers.is_empty()) {
            issues.push(Issue::ManagerWrote { path: path.clone() });
        }
        let size = || sizes.get(&**path).copied();
        for (number, used) in &name.uses {
            let job = &mut jobs[*number as usize];
            let file = JobFile {
                path: path.clone(),
                size: if name.written { name.length.or_else(|| at_end.then(size).flatten()) } else { size() },
                read: used.read,
                written: used.written,
                only: writers.len() == 1 && !name.by_manager,
                stays,
                updated: used.updated || name.there_before,
                older: name.older || name.perhaps_older,
                link: name.link,
                timed: name.timed,
            };
            if used.input {
                job.inputs.push(file.clone());
            }
            match (used.output, used.removed) {
                (true, false) => job.outputs.push(file),
                (true, true) if !used.input => job.temporaries.push(path.clone()),
                _ => {}
            }
        }
    }
}

/// Gives directories to the jobs that made them, lets jobs that run in them wait, and answers those of managers.
fn directories(history: &History, jobs: &mut [Job], needs: &mut [BTreeSet<u32>]) -> Vec<Arc<str>> {
    let mut of_managers = Vec::new();
    for (path, who) in &history.directories {
        match who {
            Some(maker) => {
                jobs[*maker as usize].directories.push(path.clone());
                let within = |cwd: &str| is_at(cwd, path);
                let made_at = jobs[*maker as usize].start;
                for (number, job) in jobs.iter().enumerate() {
                    // The name may have been that of another directory before.
                    if job.end.is_some() && job.end < made_at {
                        continue;
                    }
                    let runs_there =
                        job.commands().iter().filter_map(|command| command.cwd.as_deref()).any(within);
                    if runs_there && number as u32 != *maker {
                        needs[number].insert(*maker);
                    }
                }
            }
            None if is_of_workflow(None, path) => of_managers.push(path.clone()),
            None => {}
        }
    }
    of_managers
}

fn key(jobs: &[Job], job: u32) -> (Option<Timestamp>, u32) {
    (jobs[job as usize].start, job)
}

/// Jobs that need each other, each with at least two; in them only what needs an earlier one keeps its need.
fn break_cycles(jobs: &[Job], needs: &mut [BTreeSet<u32>]) -> Vec<Vec<JobId>> {
    let component = components(needs);
    let mut members: HashMap<u32, Vec<JobId>, RandomState> = HashMap::default();
    for (job, component) in component.iter().enumerate() {
        members.entry(*component).or_default().push(JobId(job as u32));
    }
    for (job, needed) in needs.iter_mut().enumerate() {
        let own = key(jobs, job as u32);
        needed.retain(|&other| component[other as usize] != component[job] || key(jobs, other) < own);
    }
    let mut cycles: Vec<Vec<JobId>> = members.into_values().filter(|jobs| jobs.len() > 1).collect();
    cycles.sort();
    cycles
}

/// Strongly connected components (Tarjan), without recursion.
pub(crate) fn components(needs: &[BTreeSet<u32>]) -> Vec<u32> {
    const NEW: u32 = u32::MAX;
    let count = needs.len();
    let (mut index, mut low, mut component) = (vec![NEW; count], vec![0_u32; count], vec![NEW; count]);
    let (mut next, mut found) = (0_u32, 0_u32);
    let mut open: Vec<u32> = Vec::new();
    for start in 0..count as u32 {
        if index[start as usize] != NEW {
            continue;
        }
        let mut work = vec![(start, needs[start as usize].iter())];
        (index[start as usize], low[start as usize]) = (next, next);
        next += 1;
        open.push(start);
        while let Some((vertex, others)) = work.last_mut() {
            let vertex = *vertex;
            match others.next() {
                Some(&other) if index[other as usize] == NEW => {
                    (index[other as usize], low[other as usize]) = (next, next);
                    next += 1;
                    open.push(other);
                    work.push((other, needs[other as usize].iter()));
                }
                Some(&other) => {
                    if component[other as usize] == NEW {
                        low[vertex as usize] = low[vertex as usize].min(index[other as usize]);
                    }
                }
                None => {
                    work.pop();
                    if let Some((parent, _)) = work.last() {
                        low[*parent as usize] = low[*parent as usize].min(low[vertex as usize]);
                    }
                    if low[vertex as usize] == index[vertex as usize] {
                        while let Some(member) = open.pop() {
                            component[member as usize] = found;
                            if member == vertex {
                                break;
                            }
                        }
                        found += 1;
                    }
                }
            }
        }
    }
    component
}

/// The jobs so that each stands behind all that it needs, the earliest start first.
fn order(jobs: &[Job], needs: &[BTreeSet<u32>]) -> Vec<u32> {
    let mut waits: Vec<usize> = needs.iter().map(BTreeSet::len).collect();
    let mut needed_by: Vec<Vec<u32>> = vec![Vec::new(); jobs.len()];
    for (job, needed) in needs.iter().enumerate() {
        for &other in needed {
            needed_by[other as usize].push(job as u32);
        }
    }
    let mut ready: BinaryHeap<_> = (0..jobs.len() as u32)
        .filter(|job| waits[*job as usize] == 0)
        .map(|job| Reverse(key(jobs, job)))
        .collect();
    let mut order = Vec::with_capacity(jobs.len());
    while let Some(Reverse((_, job))) = ready.pop() {
        order.push(job);
        for &next in &needed_by[job as usize] {
            waits[next as usize] -= 1;
            if waits[next as usize] == 0 {
                ready.push(Reverse(key(jobs, next)));
            }
        }
    }
    order
}

fn own_issues(jobs: &[Job], issues: &mut Vec<Issue>) {
    for (number, job) in jobs.iter().enumerate() {
        let id = JobId(number as u32);
        if job.end.is_none() {
            issues.push(Issue::NoEnd { job: id });
        }
        let how = match (&job.signal, job.exit_code) {
            (Some(signal), _) => Some(signal.to_string()),
            (None, Some(code)) if code != 0 => Some(format!("exit status {code}")),
            _ => None,
        };
        issues.extend(how.map(|how| Issue::Failed { job: id, how }));
    }
}

/// Brings the jobs into `order` and renames them everywhere.
fn renumber(jobs: &mut Jobs, order: &[u32], needs: &[BTreeSet<u32>]) {
    let mut place = vec![0_u32; order.len()];
    for (index, job) in order.iter().enumerate() {
        place[*job as usize] = index as u32;
    }
    let new = |job: &JobId| JobId(place[job.index()]);
    let mut old: Vec<Option<Job>> = std::mem::take(&mut jobs.jobs).into_iter().map(Some).collect();
    for &number in order {
        let Some(mut job) = old[number as usize].take() else { continue };
        job.needs = needs[number as usize].iter().map(|other| JobId(place[*other as usize])).collect();
        job.needs.sort();
        for state in &mut job.finds {
            if let Left::ByJob(other) = &mut state.left {
                *other = new(other);
            }
        }
        jobs.jobs.push(job);
    }
    for issue in &mut jobs.issues {
        match issue {
            Issue::Cycle { jobs }
            | Issue::Times { jobs }
            | Issue::MayUseTimes { jobs }
            | Issue::Exchanges { jobs }
            | Issue::ListsTrail { jobs, .. }
            | Issue::ListsBase { jobs }
            | Issue::OtherUser { jobs, .. } => {
                jobs.iter_mut().for_each(|job| *job = new(job));
                jobs.sort();
            }
            Issue::SharedOutput { jobs, .. } => jobs.iter_mut().for_each(|job| *job = new(job)),
            Issue::CannotRun { job, .. }
            | Issue::NoEnd { job }
            | Issue::Failed { job, .. }
            | Issue::PipeToManager { job }
            | Issue::Whole { job, .. }
            | Issue::ReadsOutside { job } => *job = new(job),
            Issue::ManagerWrote { .. }
            | Issue::ManagerMade { .. }
            | Issue::WroteOutside { .. }
            | Issue::Environment { .. }
            | Issue::UnknownEnvironment
            | Issue::NotExported { .. }
            | Issue::Unplaced { .. }
            | Issue::Above { .. }
            | Issue::CallsMissing { .. }
            | Issue::Outside { .. } => {}
        }
    }
    jobs.issues.sort();
}
