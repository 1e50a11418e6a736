//! The pass: from rows to accesses of files and what orders them.

use crate::access::{Access, Description, DescriptionId, Edge, EdgeKind, Kind};
use crate::file::{FileAccesses, ProcessEdges};
use crate::result::Looked;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::calls::{CallKind, Family, OpenFlags, PerCall, Transfer, flags};
use iotrail_model::{CaseId, Event, FileId, FileKind, OpenId, Tid};
use iotrail_query::{Asks, Pass, Rows};
use iotrail_trail::{Columns, EventLog};

/// Gathers what touches files.
pub(crate) struct Gathering<'a> {
    log: &'a EventLog,
    roles: PerCall<Role>,
    /// Whether each file holds bytes at places.
    is_file: Vec<bool>,
}

/// What a call is to merging.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Role {
    #[default]
    None,
    Transfer(Transfer),
    Seek,
    Open,
    Control,
    Map,
    Truncate,
    Edge(EdgeKind),
    Allocate,
}

fn role(kind: CallKind, family: Family, transfer: Transfer) -> Role {
    match (kind, transfer) {
        (_, Transfer::Read | Transfer::Write | Transfer::Copy) => Role::Transfer(transfer),
        (CallKind::Seek, _) => Role::Seek,
        (CallKind::Open, _) => Role::Open,
        (CallKind::Control, _) => Role::Control,
        (CallKind::Map, _) => Role::Map,
        (CallKind::Truncate, _) => Role::Truncate,
        (CallKind::Allocate, _) => Role::Allocate,
        (CallKind::Sync | CallKind::SyncMemory, _) => Role::Edge(EdgeKind::Sync),
        (CallKind::Lock, _) => Role::Edge(EdgeKind::Lock),
        (CallKind::Close, _) => Role::Edge(EdgeKind::Close),
        (CallKind::Rename, _) => Role::Edge(EdgeKind::Rename),
        (CallKind::Kill, _) => Role::Edge(EdgeKind::Send),
        (CallKind::Exec | CallKind::ExitProcess | CallKind::Spawn | CallKind::Vfork, _) => {
            Role::Edge(EdgeKind::Process)
        }
        _ if family == Family::Sync => Role::Edge(EdgeKind::Sync),
        _ => Role::None,
    }
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
    /// Writes through it go to the end from now on.
    Appends(OpenId, CaseId),
}

/// Accesses of all files.
#[derive(Default)]
pub(crate) struct Gathered {
    pub(crate) files: HashMap<FileId, FileAccesses, RandomState>,
    pub(crate) descriptions: Vec<Description>,
    pub(crate) processes: ProcessEdges,
    pub(crate) looked: Looked,
    numbers: HashMap<(CaseId, OpenId), DescriptionId, RandomState>,
    appending: hashbrown::HashSet<(CaseId, OpenId), RandomState>,
    /// Accesses whose end is not known yet, by thread.
    open_ended: HashMap<(CaseId, Tid), (FileId, u32), RandomState>,
}

impl<'a> Gathering<'a> {
    pub(crate) fn new(log: &'a EventLog) -> Self {
        let paths = &log.names().paths;
        let is_file = log.distinct_files().iter().map(|file| {
            let path = &*paths[file.path.index()];
            let of_kernel = ["/proc/", "/sys/", "/dev/"].iter().any(|root| path.starts_with(root));
            let kind = file.kind.as_deref();
            !of_kernel
                && match kind {
                    Some(kind) => kind == FileKind::File.name() || kind == FileKind::Block.name(),
                    None => path.starts_with('/'),
                }
        });
        Self {
            log,
            roles: PerCall::new(&log.names().calls, |call| role(call.kind(), call.family(), call.transfer())),
            is_file: is_file.collect(),
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
        let file = self.file(event.file.get());
        let edge = |kind| Edge { start: event.start.0, kind };
        match role {
            Role::None => {}
            Role::Transfer(transfer) => self.transfer(transfer, event, file, selected, items, looked),
            Role::Seek => {
                let (Some(file), Some(to)) = (file, event.ret.get().and_then(|ret| u64::try_from(ret).ok()))
                else {
                    return;
                };
                let from_end = ["SEEK_END", "SEEK_DATA", "SEEK_HOLE"]
                    .iter()
                    .any(|word| flags::has_word(self.flags(event).as_bytes(), word));
                // Who asks where the file ends has seen what lies there.
                let (kind, low, high) = if from_end {
                    (Kind::Read, to.saturating_sub(1), u64::MAX)
                } else {
                    (Kind::Seek, to, to.saturating_add(1))
                };
                items.push(self.access(file, event, kind, low, high, false));
            }
            Role::Open => {
                if OpenFlags::parse(self.flags(event).as_bytes()).appends()
                    && let Some(open) = event.open.get()
                {
                    items.push(Item::Appends(open, event.case));
                }
                if let (Some(file), true) = (file, OpenFlags::parse(self.flags(event).as_bytes()).truncates())
                {
                    items.push(self.access(file, event, Kind::Write, 0, u64::MAX, false));
                }
            }
            Role::Control => {
                let text = self.flags(event).as_bytes();
                if flags::has_word(text, "O_APPEND")
                    && let Some(open) = event.open.get()
                {
                    items.push(Item::Appends(open, event.case));
                }
                let locks = ["F_SETLK", "F_SETLKW", "F_OFD_SETLK", "F_OFD_SETLKW"];
                if let (Some(file), true) = (file, locks.iter().any(|word| flags::has_word(text, word))) {
                    items.push(Item::FileEdge(file, edge(EdgeKind::Lock)));
                }
            }
            Role::Map => {
                let Some(file) = file else { return };
                let text = self.flags(event).as_bytes();
                let private = flags::has_word(text, "MAP_PRIVATE");
                let writes =
                    !private && (flags::has_word(text, "PROT_WRITE") || !flags::has_word(text, "PROT_READ"));
                let kind = if writes { Kind::UnknownWrite } else { Kind::UnknownRead };
                items.push(self.mapping(file, event, kind));
            }
            Role::Truncate | Role::Allocate => {
                let Some(file) = file else { return };
                items.push(self.access(file, event, Kind::UnknownWrite, 0, u64::MAX, false));
                items.push(Item::FileEdge(file, edge(EdgeKind::Resize)));
            }
            Role::Edge(EdgeKind::Close) => {
                if let (Some(file), Some(open)) = (file, event.open.get()) {
                    items.push(Item::OpenEdge(file, open, event.case, edge(EdgeKind::Close)));
                }
            }
            Role::Edge(kind @ (EdgeKind::Sync | EdgeKind::Lock | EdgeKind::Rename)) => {
                match [file, self.file(event.file2.get())] {
                    [None, None] => items.push(Item::ProcessEdge(event.case, event.pid, edge(kind))),
                    files => {
                        items.extend(files.into_iter().flatten().map(|file| Item::FileEdge(file, edge(kind))))
                    }
                }
            }
            Role::Edge(kind) => items.push(Item::ProcessEdge(event.case, event.pid, edge(kind))),
        }
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
        let Some(size) = event.size.get().and_then(|size| u64::try_from(size).ok()) else { return };
        let Some(file) = file else {
            if transfer != Transfer::Read {
                items.push(Item::ProcessEdge(
                    event.case,
                    event.pid,
                    Edge { start: event.start.0, kind: EdgeKind::Send },
                ));
            }
            return;
        };
        let offset = event.offset.get().and_then(|offset| u64::try_from(offset).ok());
        let kind = if transfer == Transfer::Write { Kind::Write } else { Kind::Read };
        looked.transfers += 1;
        looked.without_offset += u64::from(offset.is_none());
        looked.without_description += u64::from(event.open.is_null());
        if let Some(offset) = offset {
            let mergeable = selected && transfer != Transfer::Copy && !event.open.is_null() && size > 0;
            looked.mergeable += u64::from(mergeable);
            items.push(self.access(file, event, kind, offset, offset.saturating_add(size), mergeable));
        } else if size > 0 {
            let kind = if kind == Kind::Write { Kind::UnknownWrite } else { Kind::UnknownRead };
            items.push(self.access(file, event, kind, 0, u64::MAX, false));
        }
        if let (Transfer::Copy, Some(into)) = (transfer, self.file(event.file2.get())) {
            let written = access(event, Kind::UnknownWrite, (0, u64::MAX), false);
            items.push(Item::Access(into, event.open2.get(), event.case, written));
        }
    }

    fn access(&self, file: FileId, event: &Event, kind: Kind, low: u64, high: u64, mergeable: bool) -> Item {
        Item::Access(file, event.open.get(), event.case, access(event, kind, (low, high), mergeable))
    }

    /// A mapping is looked at and changed until nobody knows when.
    fn mapping(&self, file: FileId, event: &Event, kind: Kind) -> Item {
        let access = Access { end: i64::MAX, timed: true, ..access(event, kind, (0, u64::MAX), false) };
        Item::Access(file, None, event.case, access)
    }
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
    type Seam = Piece;
    type Closed = Gathered;
    type Output = Gathered;

    fn columns(&self) -> Columns {
        Columns::ALL
    }

    fn asks(&self) -> Asks {
        Asks { activities: false, selection: true, whole_log: true }
    }

    fn sums(&self) {}

    fn closed(&self) -> Gathered {
        Gathered::default()
    }

    fn add(&self, (): &mut (), rows: &Rows<'_>) -> Piece {
        let mut piece = Piece { items: Vec::new(), looked: Looked::default() };
        for (row, call) in rows.batch.call.iter().enumerate() {
            let role = self.roles.of(*call);
            if role != Role::None {
                let selected = rows.selected.get(row).copied().unwrap_or_default();
                self.row(role, &rows.batch.event(row), selected, &mut piece.items, &mut piece.looked);
            }
        }
        piece
    }

    fn merge(&self, (): &mut (), (): ()) {}

    fn close(&self, closed: &mut Gathered, piece: Piece) {
        let looked = &mut closed.looked;
        looked.transfers += piece.looked.transfers;
        looked.mergeable += piece.looked.mergeable;
        looked.without_offset += piece.looked.without_offset;
        looked.without_description += piece.looked.without_description;
        piece.items.into_iter().for_each(|item| closed.take(item));
    }

    fn finish(&self, (): (), mut gathered: Gathered) -> Gathered {
        gathered.sort();
        gathered
    }
}

impl Gathered {
    fn take(&mut self, item: Item) {
        match item {
            Item::Access(file, open, case, access) => self.access(file, open, case, access),
            Item::FileEdge(file, edge) => self.files.entry(file).or_default().edges.push(edge),
            Item::OpenEdge(file, open, case, edge) => {
                if let Some(number) = self.numbers.get(&(case, open)) {
                    let file = self.files.entry(file).or_default();
                    file.edges_of_descriptions.entry(*number).or_default().push(edge);
                }
            }
            Item::ProcessEdge(case, pid, edge) => self.processes.entry((case, pid)).or_default().push(edge),
            Item::Appends(open, case) => {
                self.appending.insert((case, open));
                if let Some(number) = self.numbers.get(&(case, open)) {
                    self.descriptions[number.0 as usize].appends = true;
                }
            }
        }
    }

    fn access(&mut self, file: FileId, open: Option<OpenId>, case: CaseId, mut access: Access) {
        if let Some(open) = open {
            let next = DescriptionId(self.descriptions.len() as u32);
            let number = *self.numbers.entry((case, open)).or_insert(next);
            if number == next {
                let appends = self.appending.contains(&(case, open));
                self.descriptions.push(Description { case, pid: access.pid, appends });
            }
            access.description = number;
        }
        let accesses = &mut self.files.entry(file).or_default().accesses;
        let place = accesses.len() as u32;
        accesses.push(access);
        let before = match access.timed {
            true => self.open_ended.remove(&(case, access.tid)),
            false => self.open_ended.insert((case, access.tid), (file, place)),
        };
        // A thread does one thing after the other.
        if let Some((file, place)) = before
            && let Some(earlier) =
                self.files.get_mut(&file).and_then(|file| file.accesses.get_mut(place as usize))
        {
            earlier.end = access.start.max(earlier.start);
        }
    }

    fn sort(&mut self) {
        for file in self.files.values_mut() {
            file.accesses.sort_by_key(|access| (access.start, access.seq));
            file.edges.sort_unstable();
            file.edges_of_descriptions.values_mut().for_each(|edges| edges.sort_unstable());
        }
        self.processes.values_mut().for_each(|edges| edges.sort_unstable());
    }
}
