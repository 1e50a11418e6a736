//! What a call does: the one answer that all variants of a call share.

/// What a call does. `open`, `openat2` and `io_uring_openat` are of one kind; what tells them apart lies in their arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum CallKind {
    /// Moves data into the process; see [`super::Transfer`].
    Read,
    /// Moves data out of the process.
    Write,
    /// Moves data between two descriptors.
    Copy,
    /// Moves the position of an open file: lseek.
    Seek,
    /// Says what of a file will be used: fadvise64, readahead.
    Advise,
    /// Forces data to storage: fsync, sync.
    Sync,
    /// Forces mapped data to storage, or begins to: msync.
    SyncMemory,
    /// Locks or unlocks a whole file: flock.
    Lock,
    /// Opens the file at a path, by flags.
    Open,
    /// Opens the file at a path to write, makes or empties it: creat.
    Create,
    /// Opens a file by a handle: open_by_handle_at.
    OpenHandle,
    /// Opens a tree of mounts: open_tree.
    OpenTree,
    /// Closes a descriptor.
    Close,
    /// Closes or marks several descriptors: close_range.
    CloseRange,
    /// Makes a descriptor of an open file description that has one: dup.
    Duplicate,
    /// Asks or changes something about a descriptor, or duplicates it, or locks: fcntl.
    Control,
    /// Controls a device or file system: ioctl.
    DeviceControl,
    /// Makes both ends of a pipe.
    Pipe,
    /// Makes a descriptor of something without a path.
    Make(Object),
    /// Takes a descriptor of another process: pidfd_getfd.
    TakeDescriptor,
    /// Asks what a file is, its times and size among it.
    Stat,
    /// Asks what the process may do with a file.
    Access,
    /// Reads what a symbolic link leads to.
    ReadLink,
    /// Sets the length of a file.
    Truncate,
    /// Changes which parts of a file have storage: fallocate.
    Allocate,
    /// Changes the permissions of a file.
    ChangeMode,
    /// Changes the owner of a file.
    ChangeOwner,
    /// Sets the times of a file.
    SetTimes,
    /// Sets or removes extended or other attributes of a file.
    SetAttribute,
    /// Reads or lists attributes of a file.
    GetAttribute,
    /// Sets which permissions new files lack.
    Umask,
    /// Reads the entries of a directory.
    List,
    /// Makes a directory.
    MakeDirectory,
    /// Removes a directory: rmdir; unlinkat does so by a flag.
    RemoveDirectory,
    /// Makes a named pipe, device or file: mknod.
    MakeNode,
    /// Gives a file another name, or exchanges two.
    Rename,
    /// Gives a file one more name.
    Link,
    /// Makes a symbolic link.
    Symlink,
    /// Removes a name.
    Unlink,
    /// Changes the working directory.
    ChangeDirectory,
    /// Asks for the working directory.
    GetDirectory,
    /// Changes the root directory of the process: chroot.
    ChangeRoot,
    /// Changes the root mount: pivot_root.
    PivotRoot,
    /// Lets names lead to another tree.
    Mount,
    /// Takes it away.
    Unmount,
    /// Moves a mount, by descriptors.
    MoveMount,
    /// Changes properties of mounts: mount_setattr.
    ChangeMounts,
    /// Maps memory, maybe of a file: mmap.
    Map,
    /// Ends mappings.
    Unmap,
    /// Moves or resizes a mapping.
    Remap,
    /// Rearranges the pages of a mapping: remap_file_pages.
    RemapPages,
    /// Says how memory will be used: madvise.
    AdviseMemory,
    /// Makes a socket.
    Socket,
    /// Makes two connected sockets.
    SocketPair,
    /// Gives a socket its own address.
    Bind,
    /// Connects a socket, or sets its peer.
    Connect,
    /// Takes a connection.
    Accept,
    /// Ends one or both ways of a connection.
    Shutdown,
    /// Asks for the own address of a socket.
    OwnAddress,
    /// Makes a context for control blocks: io_setup.
    AioSetup,
    /// Ends it.
    AioDestroy,
    /// Hands control blocks over: io_submit.
    AioSubmit,
    /// Collects their results, waiting if asked to: io_getevents.
    AioGetEvents,
    /// Cancels one.
    AioCancel,
    /// Hands the entries of a ring over and collects results, waiting if asked to: io_uring_enter.
    RingEnter,
    /// Changes what a ring holds: io_uring_register.
    RingRegister,
    /// Waits until descriptors are ready: poll, select, epoll_wait.
    Poll,
    /// Says for which descriptors to wait: epoll_ctl.
    PollControl,
    /// Makes a process or thread.
    Spawn,
    /// Makes a process that shares the memory of its maker, who waits: vfork.
    Vfork,
    /// Replaces the program.
    Exec,
    /// Ends the thread.
    ExitThread,
    /// Ends all threads of the process.
    ExitProcess,
    /// Stops sharing tables or namespaces.
    Unshare,
    /// Goes to another namespace: setns.
    EnterNamespace,
    /// Sends a signal to processes: kill.
    Kill,
    /// Traces a process: ptrace.
    Trace,
    /// Filters the calls of the process: seccomp; prctl does so by an option.
    Filter,
    /// Asks or changes something about the process: prctl.
    ProcessControl,
    /// Names the place that is cleared when the thread ends: set_tid_address.
    ThreadSetup,
    /// Moves a process to a process group.
    ProcessGroup,
    /// Asks on which cores a thread may run.
    GetAffinity,
    /// Says it.
    SetAffinity,
    /// Waits for a child and returns its id: wait4.
    WaitChild,
    /// Waits for a child and stores what became of it: waitid.
    WaitChildInfo,
    /// Waits for a signal: pause, sigsuspend.
    WaitSignal,
    /// Waits for a time: nanosleep.
    Sleep,
    /// Waits for another thread, or wakes it.
    Futex,
    /// Goes on with a call that a signal interrupted.
    Restart,
    /// Ends the handling of a signal.
    SignalReturn,
    /// Says how signals are handled or which are blocked.
    SignalSetup,
    /// Anything else: the family says about what.
    #[default]
    Other,
}

impl CallKind {
    /// Whether it opens one file, by a path or a handle.
    #[must_use]
    pub fn opens_file(self) -> bool {
        matches!(self, Self::Open | Self::Create | Self::OpenHandle)
    }
}

/// A kernel object without a path that a call makes a descriptor of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Object {
    /// A counter: eventfd.
    Event,
    /// Memory with a name: memfd_create.
    Memory,
    /// Memory that the kernel does not see: memfd_secret.
    SecretMemory,
    /// Signals to be read.
    Signal,
    /// A descriptor of `timerfd_create`.
    Timer,
    /// Faults of memory to be served: userfaultfd.
    PageFault,
    /// Counters of the processor: perf_event_open.
    Performance,
    /// A process: pidfd_open.
    Process,
    /// Changes of files to be read: inotify.
    Inotify,
    /// The same for whole mounts: fanotify.
    Fanotify,
    /// A file system that is being set up: fsopen.
    FileSystem,
    /// A mount without a place: fsmount.
    Mount,
    /// Queues for requests: io_uring_setup.
    Ring,
    /// Descriptors to wait for: epoll.
    Epoll,
    /// A message queue: mq_open.
    Queue,
    /// A file that a ring held before.
    Installed,
}
