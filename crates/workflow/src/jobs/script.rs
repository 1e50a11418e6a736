//! What the shell was asked to do with the commands of one job: one after the other, through pipes, with files that
//! several of them share.
//!
//! The structure is that of the processes: each subshell that a shell forked is a node, with what it started in the order
//! of time. Files that several commands share through one open are opened once around them. What a shell cannot say, or
//! what happened at the same time without a pipe, is an error, and the manager is run again as a whole.

use super::command::command;
use super::divide::Division;
use super::early::OpenedEarly;
use super::group::{DescriptorTarget, Needed, Together};
use super::programs::{ProgramId, Programs, name};
use super::{Command, Redirect, Script, Target};
use iotrail_model::{Names, PathId, Timestamp};
use iotrail_query::{ProcessId, ProcessTable};
use std::collections::{BTreeMap, BTreeSet};

/// Builds the scripts of jobs.
pub(crate) struct Scripts<'a> {
    pub(crate) processes: &'a ProcessTable,
    pub(crate) names: &'a Names,
    pub(crate) programs: &'a Programs,
    pub(crate) division: &'a Division,
    pub(crate) together: &'a Together,
    pub(crate) early: &'a OpenedEarly,
}

/// A part of a node: a forked subshell or command, or what the process of the node executed in the end.
#[derive(Clone, Debug)]
struct Item {
    heads: Vec<u32>,
    /// The forked process; `None` for what the node itself executed.
    child: Option<ProcessId>,
    start: Option<Timestamp>,
    end: Option<Timestamp>,
}

/// Items in the order of a pipeline, each with the pipe that it writes to.
type Chain = Vec<(usize, Option<PathId>)>;

impl Scripts<'_> {
    /// The script of some heads.
    pub(crate) fn script(&self, heads: &[u32]) -> Result<Script, String> {
        let body = self.body(heads)?;
        Ok(match self.umask(heads)? {
            Some(umask) => Script::Masked { umask, body: Box::new(body) },
            None => body,
        })
    }

    /// The umask under which commands were executed and files were opened for them.
    fn umask(&self, heads: &[u32]) -> Result<Option<u32>, String> {
        let of_heads = heads.iter().map(|head| self.program(*head).umask);
        let opened = heads.iter().flat_map(|head| self.together.needed[*head as usize].values());
        let of_files = opened.filter_map(|wanted| match wanted {
            DescriptorTarget::File(open) => {
                Some(self.programs.opening(*open)).filter(|opening| opening.mode.create)
            }
            _ => None,
        });
        let all: BTreeSet<Option<u32>> = of_heads.chain(of_files.map(|opening| opening.umask)).collect();
        match all.len() {
            0 | 1 => Ok(all.into_iter().next().flatten()),
            _ => Err("it changed its umask while commands shared files".to_owned()),
        }
    }

    fn body(&self, heads: &[u32]) -> Result<Script, String> {
        if let [head] = heads {
            return self.leaf(*head, &Needed::new());
        }
        let mut opened = heads.iter().flat_map(|head| self.together.needed[*head as usize].values());
        if opened
            .any(|wanted| matches!(wanted, DescriptorTarget::File(open) if self.early.renamed.contains(open)))
        {
            return Err("a command got an open file whose name had been changed since".to_owned());
        }
        let managers: BTreeSet<Option<ProgramId>> =
            heads.iter().map(|head| self.program(*head).parent).collect();
        let manager = managers.first().copied().flatten().filter(|_| managers.len() == 1);
        let manager = manager.ok_or("commands of several managers must run together")?;
        let mut paths: BTreeMap<u32, Vec<ProcessId>> = BTreeMap::new();
        for head in heads {
            let path = self.path(*head, manager);
            paths.insert(*head, path.ok_or("who started a command is not known")?);
        }
        self.node(self.programs.get(manager).process, 1, heads, &paths, &Needed::new())
    }

    fn program(&self, head: u32) -> &super::programs::Program {
        self.programs.get(self.division.heads[head as usize])
    }

    /// The processes from the manager's down to the one that executed the command.
    fn path(&self, head: u32, manager: ProgramId) -> Option<Vec<ProcessId>> {
        let home = self.programs.get(manager).process;
        let mut path = vec![self.program(head).process];
        while let Some(&process) = path.last().filter(|process| **process != home) {
            if self.programs.born_in[process.index()] != Some(manager) {
                return None;
            }
            path.push(self.processes.get(process).parent?);
        }
        path.reverse();
        Some(path)
    }

    fn node(
        &self,
        process: ProcessId,
        depth: usize,
        heads: &[u32],
        paths: &BTreeMap<u32, Vec<ProcessId>>,
        inherited: &Needed,
    ) -> Result<Script, String> {
        let mut by_child: BTreeMap<Option<ProcessId>, Vec<u32>> = BTreeMap::new();
        for head in heads {
            by_child.entry(paths[head].get(depth).copied()).or_default().push(*head);
        }
        let items: Vec<Item> = by_child.into_iter().map(|(child, heads)| self.item(child, heads)).collect();
        if let [item] = items.as_slice() {
            return self.part(item, process, depth, paths, inherited);
        }
        let (redirects, inherited) = self.shared(&items, inherited)?;
        let mut chains = self.chains(&items, &inherited)?;
        let key = |chain: &Chain| chain.iter().map(|(at, _)| items[*at].start).min();
        chains.sort_by_key(key);
        for pair in chains.windows(2) {
            let end = pair[0].iter().map(|(at, _)| items[*at].end).collect::<Option<Vec<_>>>();
            let end = end.and_then(|ends| ends.into_iter().max());
            if end.is_none_or(|end| key(&pair[1]).flatten().is_none_or(|start| end > start)) {
                return Err("commands that share a file or a pipe ran at the same time".to_owned());
            }
        }
        let mut parts = Vec::with_capacity(chains.len());
        for chain in &chains {
            let mut stages = Vec::with_capacity(chain.len());
            let mut input = None;
            for (at, output) in chain {
                let mut own = inherited.clone();
                own.extend(input.map(|pipe| (0, DescriptorTarget::Pipe(pipe))));
                own.extend(output.map(|pipe| (1, DescriptorTarget::Pipe(pipe))));
                stages.push(self.part(&items[*at], process, depth, paths, &own)?);
                input = *output;
            }
            parts.push(match stages.pop() {
                Some(only) if stages.is_empty() => only,
                last => {
                    stages.extend(last);
                    Script::Pipeline(stages)
                }
            });
        }
        Ok(wrapped(sequence(parts), redirects))
    }

    fn item(&self, child: Option<ProcessId>, heads: Vec<u32>) -> Item {
        let (start, end) = match child {
            Some(child) => (self.processes.get(child).start, self.processes.get(child).end),
            None => (heads.first().and_then(|head| self.program(*head).start), None),
        };
        Item { heads, child, start, end }
    }

    fn part(
        &self,
        item: &Item,
        process: ProcessId,
        depth: usize,
        paths: &BTreeMap<u32, Vec<ProcessId>>,
        inherited: &Needed,
    ) -> Result<Script, String> {
        match (item.child, item.heads.as_slice()) {
            (_, [head]) => self.leaf(*head, inherited),
            (Some(child), heads) => self.node(child, depth + 1, heads, paths, inherited),
            (None, _) => {
                Err(format!("process {} executed several commands", self.processes.get(process).pid.0))
            }
        }
    }

    /// Files that several items share are opened around them.
    fn shared(&self, items: &[Item], inherited: &Needed) -> Result<(Vec<Redirect>, Needed), String> {
        let mut users: BTreeMap<DescriptorTarget, (BTreeSet<usize>, BTreeSet<Vec<i32>>)> = BTreeMap::new();
        for (index, item) in items.iter().enumerate() {
            for head in &item.heads {
                let mut of_head: BTreeMap<DescriptorTarget, Vec<i32>> = BTreeMap::new();
                for (fd, wanted) in &self.together.needed[*head as usize] {
                    of_head.entry(*wanted).or_default().push(*fd);
                }
                for (wanted, fds) in
                    of_head.into_iter().filter(|(wanted, _)| matches!(wanted, DescriptorTarget::File(_)))
                {
                    let (items, sets) = users.entry(wanted).or_default();
                    items.insert(index);
                    sets.insert(fds);
                }
            }
        }
        let mut inside = inherited.clone();
        let mut wanted = Needed::new();
        for (file, (items, sets)) in users {
            if items.len() < 2 || inherited.values().any(|known| *known == file) {
                continue;
            }
            if sets.len() > 1 {
                return Err("commands share an open file under different descriptors".to_owned());
            }
            for fd in sets.into_iter().flatten() {
                if wanted.insert(fd, file).is_some() {
                    return Err("commands share several open files under one descriptor".to_owned());
                }
            }
        }
        let redirects = self.redirects(&wanted, inherited, false)?;
        inside.extend(wanted);
        Ok((redirects, inside))
    }

    /// Items in the order of the pipes between them; each with the pipe that it writes to.
    fn chains(&self, items: &[Item], inherited: &Needed) -> Result<Vec<Chain>, String> {
        let mut ends: BTreeMap<PathId, (BTreeSet<usize>, BTreeSet<usize>)> = BTreeMap::new();
        for (index, item) in items.iter().enumerate() {
            for head in &item.heads {
                for (fd, wanted) in &self.together.needed[*head as usize] {
                    let DescriptorTarget::Pipe(pipe) = wanted else { continue };
                    if inherited.values().any(|known| known == wanted) {
                        continue;
                    }
                    let (writers, readers) = ends.entry(*pipe).or_default();
                    if *fd == 0 {
                        readers.insert(index)
                    } else {
                        writers.insert(index)
                    };
                }
            }
        }
        let mut next: BTreeMap<usize, (usize, PathId)> = BTreeMap::new();
        let mut read = BTreeSet::new();
        for (pipe, (writers, readers)) in ends {
            match (writers.len(), readers.len(), writers.first(), readers.first()) {
                (1, 1, Some(writer), Some(reader)) if writer == reader => {}
                (1, 1, Some(writer), Some(reader)) => {
                    if next.insert(*writer, (*reader, pipe)).is_some() || !read.insert(*reader) {
                        return Err("the pipes between commands are not a chain".to_owned());
                    }
                }
                _ => return Err("several commands share one end of a pipe".to_owned()),
            }
        }
        let mut chains = Vec::new();
        let mut placed = 0;
        for first in (0..items.len()).filter(|index| !read.contains(index)) {
            let mut chain = Vec::new();
            let mut index = Some(first);
            while let Some(item) = index {
                let following = next.get(&item);
                chain.push((item, following.map(|(_, pipe)| *pipe)));
                index = following.map(|(reader, _)| *reader);
            }
            placed += chain.len();
            chains.push(chain);
        }
        if placed < items.len() {
            return Err("the pipes between commands are not a chain".to_owned());
        }
        Ok(chains)
    }

    fn leaf(&self, head: u32, inherited: &Needed) -> Result<Script, String> {
        let redone = &self.program(head).redone;
        if !redone.is_empty() {
            return Ok(sequence(redone.iter().cloned().map(Script::Command).collect()));
        }
        let mut command: Command =
            command(self.processes, self.names, self.programs, self.division.heads[head as usize])?;
        let needed = &self.together.needed[head as usize];
        if inherited.keys().any(|fd| !needed.contains_key(fd)) {
            return Err("a command used what was open before where the others were redirected".to_owned());
        }
        command.redirects = self.redirects(needed, inherited, true)?;
        Ok(Script::Command(command))
    }

    /// The redirections that lead from one set of descriptors to another, in an order in which they can be written.
    fn redirects(&self, needed: &Needed, inherited: &Needed, whole: bool) -> Result<Vec<Redirect>, String> {
        let mut now = inherited.clone();
        let mut redirects = Vec::new();
        let mut put = |now: &mut Needed, fd: i32, wanted: DescriptorTarget, target: Target| {
            now.insert(fd, wanted);
            redirects.push(Redirect { fd, target });
        };
        let missing = |now: &Needed| -> Vec<(i32, DescriptorTarget)> {
            needed
                .iter()
                .filter(|(fd, wanted)| now.get(fd) != Some(wanted))
                .map(|(fd, wanted)| (*fd, *wanted))
                .collect()
        };
        // Copies first, as long as what they copy is there.
        for (fd, wanted) in missing(&now) {
            let source = inherited.iter().find(|(_, known)| **known == wanted).map(|(source, _)| *source);
            if let Some(source) = source.filter(|source| now.get(source) == Some(&wanted)) {
                put(&mut now, fd, wanted, Target::Same(source));
            }
        }
        for (fd, wanted) in missing(&now) {
            let source = now.iter().find(|(_, known)| **known == wanted).map(|(source, _)| *source);
            let target = match (wanted, source) {
                (DescriptorTarget::File(_), Some(source)) => Target::Same(source),
                (DescriptorTarget::File(open), None) => self.target(open),
                (DescriptorTarget::Null, _) => Target::Null,
                (DescriptorTarget::Closed, _) => Target::Closed,
                (DescriptorTarget::Pipe(_), _) => {
                    return Err("a pipe leads to a descriptor that no pipeline has".to_owned());
                }
            };
            put(&mut now, fd, wanted, target);
        }
        let right = needed.iter().all(|(fd, wanted)| now.get(fd) == Some(wanted));
        if !right || whole && redirects.iter().any(|redirect| !(0..=9).contains(&redirect.fd)) {
            return Err("the descriptors of a command cannot be written as redirections".to_owned());
        }
        Ok(redirects)
    }

    fn target(&self, open: super::programs::FileOpenId) -> Target {
        let opening = self.programs.opening(open);
        let home = self.processes.first_directory().unwrap_or_default();
        let is_below = |path: &&str| path.strip_prefix(home).is_some_and(|rest| rest.starts_with('/'));
        // A link is named, as the shell was asked to, where it goes with the directory.
        let via = self.names.flags(opening.via.into()).filter(is_below);
        let path = via.map_or_else(|| name(self.names, opening.path).clone(), Into::into);
        match (opening.mode.read, opening.mode.write, opening.mode.append) {
            (_, false, _) => Target::Read(path),
            (true, true, _) => Target::ReadWrite(path),
            (false, true, true) => Target::Append(path),
            (false, true, false) => Target::Write(path),
        }
    }
}

fn sequence(mut parts: Vec<Script>) -> Script {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        last => {
            parts.extend(last);
            Script::Sequence(parts)
        }
    }
}

fn wrapped(body: Script, redirects: Vec<Redirect>) -> Script {
    if redirects.is_empty() { body } else { Script::Redirected { body: Box::new(body), redirects } }
}
