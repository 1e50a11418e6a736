//! The pass: from rows to accesses of files and what orders them.

use crate::access::{Access, Description, DescriptionId, Edge, EdgeKind, Kind};
use crate::file::{FileAccesses, ProcessEdges};
use crate::packed::PackedAccesses;
use crate::result::Looked;
use crate::role::{DeviceEffect, Role, device_effect, role};
use crate::saving::Speeds;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::calls::{LockRequest, OpenFlags, PerCall, Transfer, flags};
use iotrail_model::{Case, CaseId, Event, FileId, FileKind, OpenId, Tid};
use iotrail_query::{Asks, OneLayer, Pass, Query, Rows};
use iotrail_trail::{Columns, EventLog};
use std::collections::{BTreeSet, HashSet};

/// Gathers what touches files.
pub(crate) struct Gathering<'a> {
    log: &'a EventLog,
    layers: OneLayer,
    /// What tracing added to each call, in ns.
    tracing: u64,
    roles: PerCall<Role>,
    /// Whether a call is a request that was handed over before.
    requests: PerCall<bool>,
    /// Whether each file holds bytes at places.
    is_file: Vec<bool>,
    /// Whether each is a pipe or socket.
    has_peer: Vec<bool>,
}

/// What a row says.
#[derive(Clone, Copy)]
enum Item {
    Access(FileId, Option<OpenId>, CaseId, Access),
    /// Of a file, whoever made it.
    FileEdge(FileId, Edge),
    /// Of a description.
    OpenEdge(FileId, OpenId, CaseId, Edge),
    /// Of a process.
    ProcessEdge(CaseId, iotrail_model::Pid, Edge),
    /// How a description was opened, or is from now on.
    Mode(OpenId, CaseId, Mode),
    /// A case opened it.
    Opened(FileId, CaseId),
    /// May touch any file that its case uses: by a process of which nothing more is seen.
    Anywhere(CaseId, Access),
    /// The requests of a case are calls of their own.
    RequestsSeen(CaseId),
}

/// How writes through a description behave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Mode {
    /// They go to the end.
    appends: bool,
    /// They are on storage before they return.
    syncs: bool,
}

impl Mode {
    fn of(flags: OpenFlags) -> Self {
        Self { appends: flags.appends(), syncs: flags.syncs() }
    }

    fn or(self, other: Self) -> Self {
        Self { appends: self.appends || other.appends, syncs: self.syncs || other.syncs }
    }
}

/// Accesses of all files.
#[derive(Default)]
pub(crate) struct Accesses {
    pub(crate) files: HashMap<FileId, Gathered, RandomState>,
    /// How fast large transfers were.
    pub(crate) speeds: Speeds,
    pub(crate) descriptions: Vec<Description>,
    pub(crate) processes: ProcessEdges,
    pub(crate) looked: Looked,
    numbers: HashMap<(CaseId, OpenId), DescriptionId, RandomState>,
    /// By the case that numbers it.
    modes: HashMap<(CaseId, OpenId), Mode, RandomState>,
    /// The case that numbers the descriptions of each case, where a case numbers those of others.
    numberings: Vec<CaseId>,
    /// What one description is called in the cases that numbers are shared by.
    aliases: HashMap<(CaseId, OpenId), Vec<DescriptionId>, RandomState>,
    /// Which cases opened a file.
    users: HashMap<FileId, BTreeSet<CaseId>, RandomState>,
    /// What may touch any file of a case: at most one that reads and one that writes.
    anywhere: HashMap<(CaseId, Kind), Access, RandomState>,
    requests_seen: BTreeSet<CaseId>,
    /// Accesses whose end is not known yet, by thread.
    open_ended: HashMap<(CaseId, Tid), OpenEnded, RandomState>,
}

/// An access whose end is not known yet.
#[derive(Clone, Copy)]
struct OpenEnded {
    file: FileId,
    number: u32,
    start: i64,
}

/// What was gathered about a file.
#[derive(Default)]
pub(crate) struct Gathered {
    accesses: PackedAccesses,
    /// Ends that became known later, by number of the access.
    ends: Vec<(u32, i64)>,
    edges: Vec<Edge>,
    edges_of_descriptions: Vec<(DescriptionId, Edge)>,
    /// Whether any access could be merged with others.
    pub(crate) mergeable: bool,
}

impl Gathered {
    fn push(&mut self, access: Access) -> u32 {
        self.mergeable |= access.mergeable;
        self.accesses.push(access)
    }

    /// All of it, in order. Accesses through a description of `several` cases are not merged: what others do to its position is
    /// in their cases.
    pub(crate) fn unpack(self, several: &HashSet<DescriptionId>) -> FileAccesses {
        let mut file =
            FileAccesses { accesses: self.accesses.unpack(), edges: self.edges, ..Default::default() };
        for (number, end) in self.ends {
            file.accesses[number as usize].end = end;
        }
        for access in file.accesses.iter_mut().filter(|access| several.contains(&access.description)) {
            access.mergeable = false;
        }
        file.accesses.sort_by_key(|access| (access.start, access.seq));
        file.edges.sort_unstable();
        for (description, edge) in self.edges_of_descriptions {
            file.edges_of_descriptions.entry(description).or_default().push(edge);
        }
        file.edges_of_descriptions.values_mut().for_each(|edges| edges.sort_unstable());
        file
    }
}

impl<'a> Gathering<'a> {
    pub(crate) fn new(log: &'a EventLog, query: &Query, tracing: u64) -> Self {
        let paths = &log.names().paths;
        let has_peer = log.distinct_files().iter().map(|file| match file.kind.as_deref() {
            Some(kind) => kind == FileKind::Pipe.name() || kind == FileKind::Socket.name(),
            None => !paths[file.path.index()].starts_with('/'),
        });
        Self {
            log,
            layers: query.one_layer(log),
            tracing,
            has_peer: has_peer.collect(),
            roles: PerCall::new(&log.names().calls, role),
            requests: PerCall::new(&log.names().calls, |call| {
                call.spec.is_some_and(|spec| spec.request.is_some())
            }),
            is_file: log.holds_bytes(),
        }
    }

    fn file(&self, file: Option<FileId>) -> Option<FileId> {
        file.filter(|file| self.is_file.get(file.index()).copied().unwrap_or_default())
    }

    fn flags(&self, event: &Event) -> &str {
        self.log.names().flags(event.flags).unwrap_or_default()
    }

    fn row(&self, role: Role, event: &Event, selected: bool, items: &mut Vec<Item>, looked: &mut Looked) {
        if !event.errno.is_null() {
            return;
        }
        if self.requests.of(event.call) {
            items.push(Item::RequestsSeen(event.case));
        }
        let file = self.file(event.file.get());
        match role {
            Role::None => {}
            Role::Transfer(Transfer::Copy) => self.copy(event, file, items, looked),
            Role::Transfer(transfer) => self.transfer(transfer, event, file, selected, items, looked),
            Role::Seek => self.seek(event, file, items),
            Role::Open => self.open(event, file, OpenFlags::parse(self.flags(event).as_bytes()), items),
            Role::Create => self.open(event, file, OpenFlags::CREAT, items),
            Role::Control => self.control(event, file, items),
            Role::DeviceControl => self.device_control(event, file, items),
            Role::Map => self.map(event, file, items),
            Role::AdviseMemory => {
                if let (Some(file), true) =
                    (file, flags::has_word(self.flags(event).as_bytes(), "MADV_REMOVE"))
                {
                    items.push(self.access(file, event, Kind::UnknownWrite, (0, u64::MAX), false));
                }
            }
            Role::Truncate | Role::Allocate => self.resize(role, event, file, items),
            Role::Close => self.close(event, file, items),
            // When its work is done is not known.
            Role::Submit if event.ret.get().is_none_or(|number| number > 0) => {
                items.push(Item::Anywhere(event.case, without_end(event, Kind::UnknownWrite)));
            }
            Role::Submit => {}
            Role::Edge(kind @ (EdgeKind::Sync | EdgeKind::Lock | EdgeKind::Name)) => {
                let files = [file, self.file(event.file2.get())];
                items.extend(files.into_iter().flatten().map(|file| Item::FileEdge(file, edge(event, kind))));
                // Names are how others learn that something is done, whatever file has them.
                if files == [None, None] || kind == EdgeKind::Name {
                    items.push(of_process(event, kind));
                }
            }
            Role::SyncAll => items.push(of_process(event, EdgeKind::Sync)),
            Role::Edge(kind) => items.push(of_process(event, kind)),
        }
    }

    fn close(&self, event: &Event, file: Option<FileId>, items: &mut Vec<Item>) {
        let ends = || event.file.get().is_some_and(|file| self.has_peer.get(file.index()) == Some(&true));
        match (file, event.open.get()) {
            (Some(file), Some(open)) => {
                items.push(Item::OpenEdge(file, open, event.case, edge(event, EdgeKind::Close)));
            }
            (Some(file), None) => items.push(Item::FileEdge(file, edge(event, EdgeKind::Close))),
            // Who has the other end sees it.
            (None, _) if ends() => items.push(of_process(event, EdgeKind::Close)),
            (None, _) => {}
        }
    }

    fn seek(&self, event: &Event, file: Option<FileId>, items: &mut Vec<Item>) {
        let (Some(file), Some(to)) = (file, event.ret.get().and_then(|ret| u64::try_from(ret).ok())) else {
            return;
        };
        let from_end = ["SEEK_END", "SEEK_DATA", "SEEK_HOLE"]
            .iter()
            .any(|word| flags::has_word(self.flags(event).as_bytes(), word));
        // Who asks where the file ends has seen what lies there.
        let (kind, bytes) = if from_end {
            (Kind::Read, (to.saturating_sub(1), u64::MAX))
        } else {
            (Kind::Seek, (to, to.saturating_add(1)))
        };
        items.push(self.access(file, event, kind, bytes, false));
    }

    fn open(&self, event: &Event, file: Option<FileId>, flags: OpenFlags, items: &mut Vec<Item>) {
        let mode = Mode::of(flags);
        if let (Some(open), true) = (event.open.get(), mode != Mode::default()) {
            items.push(Item::Mode(open, event.case, mode));
        }
        // Who makes a file that was not there tells those that look for it.
        if flags.creates_new() {
            items.push(of_process(event, EdgeKind::Name));
        }
        let Some(file) = file else { return };
        items.push(Item::Opened(file, event.case));
        if flags.truncates() {
            items.push(self.access(file, event, Kind::Write, (0, u64::MAX), false));
        }
    }

    fn control(&self, event: &Event, file: Option<FileId>, items: &mut Vec<Item>) {
        let text = self.flags(event).as_bytes();
        if let (Some(open), true) = (event.open.get(), flags::has_word(text, "O_APPEND")) {
            items.push(Item::Mode(open, event.case, Mode { appends: true, syncs: false }));
        }
        let locks = LockRequest::is_in(self.flags(event)) || flags::has_word(text, "F_SETLEASE");
        if let (Some(file), true) = (file, locks) {
            items.push(Item::FileEdge(file, edge(event, EdgeKind::Lock)));
        }
    }

    fn device_control(&self, event: &Event, file: Option<FileId>, items: &mut Vec<Item>) {
        let Some(file) = file else { return };
        let effect = device_effect(self.flags(event));
        if effect != DeviceEffect::None {
            items.push(self.access(file, event, Kind::UnknownWrite, (0, u64::MAX), false));
        }
        if effect == DeviceEffect::Clones {
            // Of which file is not known.
            let source = access(event, Kind::UnknownRead, (0, u64::MAX), false);
            items.push(Item::Anywhere(event.case, source));
        }
    }

    /// A mapping is looked at and changed until nobody knows when.
    fn map(&self, event: &Event, file: Option<FileId>, items: &mut Vec<Item>) {
        let Some(file) = file else { return };
        let text = self.flags(event).as_bytes();
        let private = flags::has_word(text, "MAP_PRIVATE");
        let writes = !private && (flags::has_word(text, "PROT_WRITE") || !flags::has_word(text, "PROT_READ"));
        let kind = if writes { Kind::UnknownWrite } else { Kind::UnknownRead };
        items.push(Item::Access(file, None, event.case, without_end(event, kind)));
    }

    fn resize(&self, role: Role, event: &Event, file: Option<FileId>, items: &mut Vec<Item>) {
        let Some(file) = file else { return };
        let length = event.offset.get().and_then(|length| u64::try_from(length).ok());
        items.push(match length.filter(|_| role == Role::Truncate) {
            // What lies before the new end stays as it is.
            Some(length) => self.access(file, event, Kind::Write, (length, u64::MAX), false),
            None => self.access(file, event, Kind::UnknownWrite, (0, u64::MAX), false),
        });
        items.push(Item::FileEdge(file, edge(event, EdgeKind::Resize)));
    }

    fn transfer(
        &self,
        transfer: Transfer,
        event: &Event,
        file: Option<FileId>,
        selected: bool,
        items: &mut Vec<Item>,
        looked: &mut Looked,
    ) {
        let Some(file) = file else {
            if transfer != Transfer::Read {
                items.push(of_process(event, EdgeKind::Send));
            }
            return;
        };
        let size = event.size.get().and_then(|size| u64::try_from(size).ok());
        let offset = event.offset.get().and_then(|offset| u64::try_from(offset).ok());
        let (kind, unknown) = match transfer {
            Transfer::Write => (Kind::Write, Kind::UnknownWrite),
            _ => (Kind::Read, Kind::UnknownRead),
        };
        looked.transfers += 1;
        looked.without_offset += u64::from(offset.is_none());
        looked.without_description += u64::from(event.open.is_null());
        match (offset, size) {
            (_, Some(0)) => {}
            (Some(offset), Some(size)) => {
                let mergeable = selected && !event.open.is_null();
                looked.mergeable += u64::from(mergeable);
                let bytes = (offset, offset.saturating_add(size));
                let access = Access { syncs: self.syncs(event), ..access(event, kind, bytes, mergeable) };
                items.push(Item::Access(file, event.open.get(), event.case, access));
            }
            // What it moved before its process ended, or the trace, nobody saw.
            _ => items.push(self.access(file, event, unknown, (0, u64::MAX), false)),
        }
    }

    /// Whether this one call is on storage before it returns, however the file was opened.
    fn syncs(&self, event: &Event) -> bool {
        let text = self.flags(event).as_bytes();
        ["RWF_DSYNC", "RWF_SYNC"].iter().any(|word| flags::has_word(text, word))
    }

    /// Data from one descriptor to another. Where in the second they land is not known.
    fn copy(&self, event: &Event, file: Option<FileId>, items: &mut Vec<Item>, looked: &mut Looked) {
        if event.size.get() == Some(0) {
            return;
        }
        if let Some(file) = file {
            let place = |value: Option<i64>| value.and_then(|value| u64::try_from(value).ok());
            let (offset, size) = (place(event.offset.get()), place(event.size.get()));
            looked.transfers += 1;
            looked.without_offset += u64::from(offset.is_none());
            looked.without_description += u64::from(event.open.is_null());
            items.push(match offset.zip(size) {
                Some((offset, size)) => {
                    self.access(file, event, Kind::Read, (offset, offset.saturating_add(size)), false)
                }
                None => self.access(file, event, Kind::UnknownRead, (0, u64::MAX), false),
            });
        }
        match self.file(event.file2.get()) {
            Some(into) => {
                let written = access(event, Kind::UnknownWrite, (0, u64::MAX), false);
                items.push(Item::Access(into, event.open2.get(), event.case, written));
            }
            None => items.push(of_process(event, EdgeKind::Send)),
        }
    }

    fn access(&self, file: FileId, event: &Event, kind: Kind, bytes: (u64, u64), mergeable: bool) -> Item {
        Item::Access(file, event.open.get(), event.case, access(event, kind, bytes, mergeable))
    }
}

fn edge(event: &Event, kind: EdgeKind) -> Edge {
    Edge { start: event.start.0, kind, pid: event.pid, call: event.call }
}

fn of_process(event: &Event, kind: EdgeKind) -> Item {
    Item::ProcessEdge(event.case, event.pid, edge(event, kind))
}

/// An access to any byte that goes on.
fn without_end(event: &Event, kind: Kind) -> Access {
    Access { end: i64::MAX, timed: true, ..access(event, kind, (0, u64::MAX), false) }
}

fn access(event: &Event, kind: Kind, (low, high): (u64, u64), mergeable: bool) -> Access {
    let duration = event.dur.get();
    Access {
        start: event.start.0,
        end: duration.map_or(i64::MAX, |duration| event.start.0.saturating_add(duration.0.max(0))),
        low,
        high,
        seq: event.seq,
        description: DescriptionId::NONE,
        tid: event.tid,
        pid: event.pid,
        call: event.call,
        kind,
        mergeable,
        syncs: false,
        timed: duration.is_some(),
    }
}

/// What a piece of the log holds.
pub(crate) struct Piece {
    items: Vec<Item>,
    looked: Looked,
}

impl Pass for Gathering<'_> {
    type Sums = ();
    type Boundary = Piece;
    type Closed = Accesses;
    type Output = Accesses;

    fn columns(&self) -> Columns {
        Columns::CASE
            | Columns::SEQ
            | Columns::PID
            | Columns::TID
            | Columns::CALL
            | Columns::START
            | Columns::DUR
            | Columns::FILE
            | Columns::FILE2
            | Columns::OPEN
            | Columns::OPEN2
            | Columns::OFFSET
            | Columns::SIZE
            | Columns::RET
            | Columns::ERRNO
            | Columns::FLAGS
            | self.layers.columns()
    }

    fn asks(&self) -> Asks {
        Asks { activities: false, selection: true, whole_log: true }
    }

    fn sums(&self) {}

    fn closed(&self) -> Accesses {
        let all = self.log.cases();
        let are_shared = all.iter().any(|case| case.numbered_with.is_some());
        let numberings = all.iter().filter(|_| are_shared).map(Case::numbering).collect();
        Accesses { numberings, ..Accesses::default() }
    }

    fn add(&self, (): &mut (), rows: &Rows<'_>) -> Piece {
        let mut piece = Piece { items: Vec::new(), looked: Looked::default() };
        for (row, call) in rows.batch.call.iter().enumerate() {
            let role = self.roles.of(*call);
            if role != Role::None && self.layers.has(rows.batch, row) {
                let selected = rows.selected.get(row).copied().unwrap_or_default();
                self.row(role, &rows.batch.event(row), selected, &mut piece.items, &mut piece.looked);
            }
        }
        piece
    }

    fn merge(&self, (): &mut (), (): ()) {}

    fn close(&self, closed: &mut Accesses, piece: Piece) {
        let looked = &mut closed.looked;
        looked.transfers += piece.looked.transfers;
        looked.mergeable += piece.looked.mergeable;
        looked.without_offset += piece.looked.without_offset;
        looked.without_description += piece.looked.without_description;
        piece.items.into_iter().for_each(|item| closed.take(item, self.tracing));
    }

    fn finish(&self, (): (), mut gathered: Accesses) -> Accesses {
        gathered.spread();
        gathered.processes.values_mut().for_each(|edges| edges.sort_unstable());
        gathered
    }
}

impl Accesses {
    fn numbering(&self, case: CaseId) -> CaseId {
        self.numberings.get(case.index()).copied().unwrap_or(case)
    }

    /// The descriptions that calls of several cases use.
    pub(crate) fn of_several_cases(&self) -> HashSet<DescriptionId> {
        self.aliases.values().filter(|aliases| aliases.len() > 1).flatten().copied().collect()
    }

    fn take(&mut self, item: Item, tracing: u64) {
        match item {
            Item::Access(file, open, case, access) => {
                self.speeds.add(&access, tracing);
                self.access(file, open, case, access);
            }
            Item::FileEdge(file, edge) => self.files.entry(file).or_default().edges.push(edge),
            Item::OpenEdge(file, open, case, edge) => {
                if let Some(number) = self.numbers.get(&(case, open)) {
                    let file = self.files.entry(file).or_default();
                    file.edges_of_descriptions.push((*number, edge));
                }
            }
            Item::ProcessEdge(case, pid, edge) => self.processes.entry((case, pid)).or_default().push(edge),
            Item::Mode(open, case, mode) => {
                let one = (self.numbering(case), open);
                let known = self.modes.entry(one).or_default();
                *known = known.or(mode);
                let own = self.numbers.get(&(case, open)).into_iter();
                for number in own.chain(self.aliases.get(&one).into_iter().flatten()) {
                    let description = &mut self.descriptions[number.0 as usize];
                    description.appends |= mode.appends;
                    description.syncs |= mode.syncs;
                }
            }
            Item::Opened(file, case) => {
                self.users.entry(file).or_default().insert(case);
            }
            Item::Anywhere(case, access) => {
                let known = self.anywhere.entry((case, access.kind)).or_insert(access);
                known.start = known.start.min(access.start);
                known.end = known.end.max(access.end);
            }
            Item::RequestsSeen(case) => {
                self.requests_seen.insert(case);
            }
        }
    }

    fn access(&mut self, file: FileId, open: Option<OpenId>, case: CaseId, mut access: Access) {
        if let Some(open) = open {
            let next = DescriptionId(self.descriptions.len() as u32);
            let number = *self.numbers.entry((case, open)).or_insert(next);
            if number == next {
                let one = (self.numbering(case), open);
                let Mode { appends, syncs } = self.modes.get(&one).copied().unwrap_or_default();
                if !self.numberings.is_empty() {
                    self.aliases.entry(one).or_default().push(number);
                }
                self.descriptions.push(Description { case, pid: access.pid, appends, syncs });
            }
            access.description = number;
        }
        let number = self.files.entry(file).or_default().push(access);
        let before = match access.timed {
            true => self.open_ended.remove(&(case, access.tid)),
            false => {
                self.open_ended.insert((case, access.tid), OpenEnded { file, number, start: access.start })
            }
        };
        // A thread does one thing after the other.
        if let Some(before) = before
            && let Some(file) = self.files.get_mut(&before.file)
        {
            file.ends.push((before.number, access.start.max(before.start)));
        }
    }

    /// What may touch any file that its case uses is in the way of all of them. Requests that are calls of their own are no more
    /// than these.
    fn spread(&mut self) {
        for ((case, _), access) in std::mem::take(&mut self.anywhere) {
            if access.kind == Kind::UnknownWrite && self.requests_seen.contains(&case) {
                continue;
            }
            for (file, accesses) in &mut self.files {
                if self.users.get(file).is_some_and(|cases| cases.contains(&case)) {
                    accesses.push(access);
                }
            }
        }
    }
}
