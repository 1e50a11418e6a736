//! One line, one meaning.

use crate::parser::support::{items_of, parse, setup};
use iotrail_import::Ending;
use iotrail_model::Dictionaries;
use iotrail_model::raw::RawItem;
use iotrail_strace::parser::Parser;

fn check(cases: &[(&str, &str)]) {
    for (line, expected) in cases {
        assert_eq!(items_of(line.as_bytes()), [format!("7 {expected}")], "{line}");
    }
}

#[test]
fn what_others_share_is_told_before_the_call() {
    let items = items_of(
        br#"sendmsg(3, {msg_iov=[{iov_base="x", iov_len=1}], msg_iovlen=1, msg_control=[{cmsg_len=24, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[4</a>, 5]}], msg_flags=0}, 0) = 1"#,
    );
    assert_eq!(items[..2], ["7 sends 4", "7 sends 5"]);
    assert_eq!(items.len(), 3);
    // `-s 1` cuts the list too.
    let items = items_of(b"sendmsg(3, {msg_control=[{cmsg_len=24, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[4</a>, ...]}], msg_flags=0}, 0) = 1");
    assert_eq!(items[..2], ["7 sends 4", "7 shares with others"]);
    let items = items_of(b"recvmsg(3, {msg_control=[{cmsg_len=24, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[4</a>, ...]}], msg_flags=0}, 0) = 1");
    assert_eq!(items[1..], [r#"7 receives 4 → "/a""#, "7 receives others"]);
    // No file of the set is that of thread 9.
    assert_eq!(items_of(b"fork() = 9"), ["7 shares with others", "7 @0 fork() = 9"]);
    for shared in [
        &b"clone(child_stack=NULL, flags=CLONE_VM|CLONE_FILES) = 9"[..],
        b"clone(child_stack=NULL, flags=0x400|17) = 9",
        b"clone3({flags=0x1400, exit_signal=17, stack=NULL, stack_size=0}, 88) = 9",
    ] {
        assert_eq!(items_of(shared)[0], "7 shares with others for ever");
    }
    assert_eq!(items_of(b"clone(child_stack=0x7f0400, flags=0x11) = 9")[0], "7 shares with others");
    assert_eq!(items_of(b"fork() = 8"), ["7 @0 fork() = 8"]);
    let lines = "fork() = 9\n100 fork() = 10\n";
    let items = parse(lines.as_bytes()).items;
    assert_eq!(items[0], "0 shares with others");
    assert_eq!(parse(b"100 fork() = 10\n").items, ["100 @0 fork() = 10"]);
}

#[test]
fn descriptors_carry_what_strace_prints_beside_them() {
    check(&[
        (r#"read(3, "abc", 5) = 3"#, "@0 read(fd 3, _, 5) = 3"),
        (
            r#"read(3</etc/pass\76wd>, ""..., 5) = 3 <0.000012>"#,
            r#"@0 +12000 read(fd 3 → "/etc/pass>wd", _, 5) = 3"#,
        ),
        (r#"write(1</dev/pts/5<char 136:5>>, "\"), ", 4) = 4"#, r#"@0 write(fd 1 → "/dev/pts/5", _, 4) = 4"#),
        (r#"read(3<>, "abc", 5) = 3"#, "@0 read(fd 3, _, 5) = 3"),
        ("close(3</tmp/x>(deleted)) = 0", r#"@0 close(fd 3 → "/tmp/x" deleted) = 0"#),
        ("close(3</tmp/x (deleted)>) = 0", r#"@0 close(fd 3 → "/tmp/x" deleted) = 0"#),
        (
            "close(3<TCP:[127.0.0.1:80->127.0.0.1:5]>) = 0",
            r#"@0 close(fd 3 → "TCP:[127.0.0.1:80->127.0.0.1:5]") = 0"#,
        ),
        (r#"close(3<UNIX:[1->2,"/run/x"]>) = 0"#, r#"@0 close(fd 3 → "UNIX:[1->2,\"/run/x\"]") = 0"#),
        ("close(3<anon_inode:[eventpoll]>) = 0", r#"@0 close(fd 3 → "anon_inode:[eventpoll]") = 0"#),
        ("dup(3<pipe:[7]>) = 4<pipe:[7]>", r#"@0 dup(fd 3 → "pipe:[7]") = 4 → "pipe:[7]""#),
        ("close(-1) = -1 EBADF (Bad file descriptor)", "@0 close(fd -1) = EBADF"),
        ("fcntl(3, F_DUPFD_CLOEXEC, 10) = 10", "@0 fcntl(fd 3, F_DUPFD_CLOEXEC, 10) = 10"),
        ("dup2(3</a>, 4</b>) = 4</a>", r#"@0 dup2(fd 3 → "/a", fd 4 → "/b") = 4 → "/a""#),
    ]);
}

#[test]
fn paths_are_unescaped() {
    check(&[
        (
            r#"openat(AT_FDCWD, "a\n\"\\\377\0011\x41", O_RDONLY|O_CLOEXEC) = 3</x>"#,
            r#"@0 openat(cwd, "a\n\"\\\xff\x011A", O_RDONLY|O_CLOEXEC) = 3 → "/x""#,
        ),
        (
            r#"openat(AT_FDCWD</home/u>, "a"..., O_WRONLY|O_CREAT, 0644) = -1 EACCES (Permission denied)"#,
            r#"@0 openat(cwd → "/home/u", "a"…, O_WRONLY|O_CREAT, 420) = EACCES"#,
        ),
        (r#"openat(5</srv>, "x", O_PATH) = 6"#, r#"@0 openat(fd 5 → "/srv", "x", O_PATH) = 6"#),
        (r#"rename("a", "b") = 0"#, r#"@0 rename("a", "b") = 0"#),
        ("stat(NULL, NULL) = -1 EFAULT (Bad address)", "@0 stat(NULL, NULL) = EFAULT"),
        ("unlink(0x7ffc0000) = -1 EFAULT (Bad address)", "@0 unlink(_) = EFAULT"),
        (r#"chdir("\x2f\x74\x6d\x70") = 0"#, r#"@0 chdir("/tmp") = 0"#),
        (r#"getcwd("/tmp", 4096) = 5"#, r#"@0 getcwd("/tmp", 4096) = 5"#),
    ]);
}

#[test]
fn constants_are_read_in_every_style() {
    check(&[
        (r#"openat(-100, "f", 0x80000) = 3"#, r#"@0 openat(cwd, "f", 524288) = 3"#),
        (
            r#"openat(-100 /* AT_FDCWD */</tmp>, "f", 0x80000 /* O_RDONLY|O_CLOEXEC */) = 3"#,
            r#"@0 openat(cwd → "/tmp", "f", O_RDONLY|O_CLOEXEC) = 3"#,
        ),
        (
            "clone(child_stack=NULL, flags=0x1200000 /* CLONE_A|CLONE_B */|17 /* SIGCHLD */, child_tidptr=0x10) = 8",
            "@0 clone(NULL, CLONE_A|CLONE_B|SIGCHLD, 16) = 8",
        ),
        ("lseek(3, -5, SEEK_END) = 95", "@0 lseek(fd 3, -5, SEEK_END) = 95"),
        (r#"openat(dfd=AT_FDCWD, filename="f", flags=O_RDONLY) = 3"#, r#"@0 openat(cwd, "f", O_RDONLY) = 3"#),
        (r#"read(fd=3</a>, buf="x=1", count=5) = 3"#, r#"@0 read(fd 3 → "/a", _, 5) = 3"#),
        ("umask(022) = 0777", "@0 umask(18) = 511"),
        (r#"statx(-100, "l", |0x900, 0x25e, 0x7ffc) = 0"#, r#"@0 statx(cwd, "l", 2304, 606, 32764) = 0"#),
        (
            r#"statx(-100, "l", 0x4000|0x900, 0x25e, 0x7ffc) = 0"#,
            r#"@0 statx(cwd, "l", 18688, 606, 32764) = 0"#,
        ),
        (r#"statx(-100, "l", , 0x1ff, 0x7ffc) = 0"#, r#"@0 statx(cwd, "l", 0, 511, 32764) = 0"#),
        (
            r#"statx(-100, "l", 0 /* AT_STATX_SYNC_AS_STAT */|0x900 /* AT_SYMLINK_NOFOLLOW|AT_NO_AUTOMOUNT */, 0x1 /* STATX_TYPE */, 0x7ffc) = 0"#,
            r#"@0 statx(cwd, "l", AT_STATX_SYNC_AS_STAT|AT_SYMLINK_NOFOLLOW|AT_NO_AUTOMOUNT, 1, 32764) = 0"#,
        ),
        (
            r#"statx(-100, "l", 0 /* AT_STATX_SYNC_AS_STAT */|0x10000 /* AT_??? */, 0x1 /* STATX_TYPE */, 0x7ffc) = 0"#,
            r#"@0 statx(cwd, "l", 65536, 1, 32764) = 0"#,
        ),
        ("socket(0x1, 0x2|0x80000, 0) = 3", "@0 socket(1, 524290, 0) = 3"),
        ("clone(child_stack=NULL, flags=0x400|17) = 8", "@0 clone(NULL, 1041) = 8"),
    ]);
}

#[test]
fn vectors_give_their_length() {
    check(&[
        (
            r#"writev(3, [{iov_base="iov_len=9", iov_len=9}, {iov_base="b"..., iov_len=100}], 2) = 109"#,
            "@0 writev(fd 3, length 109, 2) = 109",
        ),
        ("writev(3, [], 0) = 0", "@0 writev(fd 3, length 0, 0) = 0"),
        (r#"readv(3, [{iov_base="x", iov_len=1}, ...], 40) = 1"#, "@0 readv(fd 3, _, 40) = 1"),
        (
            r#"sendmsg(3, {msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base="one", iov_len=3}], msg_iovlen=1, msg_controllen=0, msg_flags=0}, MSG_NOSIGNAL) = 3"#,
            "@0 sendmsg(fd 3, length 3, MSG_NOSIGNAL) = 3",
        ),
        (
            r#"recvmmsg(4, [{msg_hdr={msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base="hello", iov_len=10}], msg_iovlen=1, msg_controllen=0, msg_flags=0}, msg_len=5}, {msg_hdr={msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base="msg_len=", iov_len=20}], msg_iovlen=1, msg_controllen=0, msg_flags=0}, msg_len=7}], 2, MSG_DONTWAIT, NULL) = 2"#,
            "@0 recvmmsg(fd 4, length 12, 2, MSG_DONTWAIT, NULL) = 2",
        ),
        (
            "recvmsg(3, {msg_namelen=0}, 0) = -1 EAGAIN (Resource temporarily unavailable)",
            "@0 recvmsg(fd 3, _, 0) = EAGAIN",
        ),
        ("preadv(3, 0x7ffc00, 2, 0) = -1 EFAULT (Bad address)", "@0 preadv(fd 3, _, 2, 0) = EFAULT"),
    ]);
}

#[test]
fn control_messages_payload_and_names_of_files_add_nothing_to_lengths() {
    let last = |line: &str| items_of(line.as_bytes()).pop().unwrap();
    assert_eq!(
        last(
            r#"sendmmsg(3, [{msg_hdr={msg_iov=[{iov_base="msg_len=7, iov_len=8", iov_len=10}], msg_iovlen=1, msg_control=[{cmsg_len=20, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[4</a, msg_len=30>]}], msg_controllen=24, msg_flags=0}, msg_len=10}, {msg_hdr={msg_iov=[{iov_base="b", iov_len=3}], msg_iovlen=1, msg_controllen=0, msg_flags=0}, msg_len=3}], 2, 0) = 2"#
        ),
        "7 @0 sendmmsg(fd 3, length 13, 2, 0) = 2"
    );
    assert_eq!(
        last(
            r#"sendmsg(3, {msg_iov=[{iov_base="x", iov_len=1}], msg_iovlen=1, msg_control=[{cmsg_len=20, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[4</a, iov_len=30>]}], msg_controllen=24, msg_flags=0}, 0) = 1"#
        ),
        "7 @0 sendmsg(fd 3, length 1, 0) = 1"
    );
}

#[test]
fn other_structures_are_taken_apart_as_far_as_needed() {
    check(&[
        ("pipe([3, 4]) = 0", "@0 pipe(pair 3 4) = 0"),
        (
            "pipe2([3<pipe:[7]>, 4<pipe:[7]>], O_CLOEXEC) = 0",
            r#"@0 pipe2(pair 3 → "pipe:[7]" 4 → "pipe:[7]", O_CLOEXEC) = 0"#,
        ),
        (
            r#"execve("/bin/sh", ["sh", "-c", "echo \"\n\""..., ...], 0x7ffc /* 9 vars */) = 0"#,
            r#"@0 execve("/bin/sh", strings "sh\0-c\0echo \"\n\"...\0..." cut, 32764) = 0"#,
        ),
        (
            "copy_file_range(3, [5] => [10], 4, NULL, 5, 0) = 5",
            "@0 copy_file_range(fd 3, 5, fd 4, NULL, 5, 0) = 5",
        ),
        ("_llseek(3, 0, [16], SEEK_CUR) = 0", "@0 _llseek(fd 3, 0, 16, SEEK_CUR) = 0"),
        ("exit_group(3) = ?", "@0 exit_group(3) = ?"),
        (
            "restart_syscall(<... resuming interrupted nanosleep ...>) = 0",
            "@0 restart_syscall(text <... resuming interrupted nanosleep ...>) = 0",
        ),
        ("syscall_0x3c9(0x1, 0x2) = -1 ENOSYS (Function not implemented)", "@0 syscall_0x3c9(1, 2) = ENOSYS"),
        // A call that is younger than strace.
        (
            "syscall_0x1d4(0x3, 0x7ffd, 0x7ffe, 0x20, 0, 0) = 0",
            "@0 file_getattr(fd 3, _, 32766, 32, 0, 0) = 0",
        ),
        (
            "wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 12<cat>",
            "@0 wait4(-1, text [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 12",
        ),
        (
            "openat2(AT_FDCWD, \"f\", {flags=O_RDONLY, resolve=0}, 24) = 3",
            "@0 openat2(cwd, \"f\", text {flags=O_RDONLY, resolve=0}, 24) = 3",
        ),
        ("getpid() = 5", "@0 getpid() = 5"),
    ]);
}

#[test]
fn ends_of_threads_are_items() {
    check(&[
        ("+++ exited with 3 +++", "@0 exited 3"),
        ("+++ killed by SIGSEGV (core dumped) +++", "@0 killed SIGSEGV"),
        ("1700000000.5 +++ superseded by execve in pid 9 +++", "@1700000000500000000 superseded by 9"),
    ]);
}

/// What became of interrupted calls: items without the announcements, and how many were restarted, ended, or are not known.
fn interruptions(text: &str) -> (Vec<String>, [u64; 3]) {
    let parsed = parse(text.as_bytes());
    assert_eq!(parsed.coverage.lines.unparsed, 0, "{:?}", parsed.coverage.examples);
    let is_shown = |item: &String| item.contains(" = ") && !item.starts_with("entered");
    let coverage = &parsed.coverage;
    (
        parsed.items.into_iter().filter(is_shown).collect(),
        [coverage.interrupted, coverage.interrupted_ended, coverage.interrupted_unknown],
    )
}

const READ: &str = "1 read(0, 0x7ffc, 5) = ? ERESTARTSYS (To be restarted if SA_RESTART is set) <0.000002>\n1 --- SIGALRM {si_signo=SIGALRM, si_code=SI_KERNEL} ---\n";

#[test]
fn a_call_that_a_signal_ended_has_failed() {
    let returns = "1 rt_sigreturn({mask=[]}) = -1 EINTR (Interrupted system call)\n";
    let (items, counts) =
        interruptions(&format!("{READ}1 write(1, \"!\", 1) = 1\n{returns}1 read(0, \"abc\", 5) = 3\n"));
    let read = "1 @0 +2000 read(fd 0, _, 5) = EINTR";
    assert_eq!(items[2..], [read, "1 @4 read(fd 0, _, 5) = 3"], "the program tried again");
    assert_eq!(counts, [0, 1, 0]);
    let announced = parse(READ.as_bytes()).items;
    assert_eq!(announced[..2], ["entered 1 @0 read(fd 0, _, 5) = ?", "1 @0 suspended"]);
    // In halves, with another thread in between.
    let (items, counts) = interruptions(concat!(
        "1 pause( <unfinished ...>\n2 close(3) = 0\n1 <... pause resumed>) = ? ERESTARTNOHAND (To be restarted if no handler) <0.1>\n",
        "1 --- SIGUSR1 {si_signo=SIGUSR1} ---\n1 rt_sigreturn({mask=[]} <unfinished ...>\n2 close(4) = 0\n",
        "1 <... rt_sigreturn resumed>) = -1 EINTR (Interrupted system call)\n",
    ));
    assert_eq!(items.last().unwrap(), "1 @0 +100000000 pause() = EINTR");
    assert_eq!(counts, [0, 1, 0]);
}

#[test]
fn a_call_that_is_made_again_was_restarted() {
    let again = "1 read(0, \"abc\", 5) = 3\n";
    let read = "1 @2 read(fd 0, _, 5) = 3".to_owned();
    assert_eq!(interruptions(&format!("{READ}{again}")), (vec![read], [1, 0, 0]));
    // Behind a handler, which returns the number of the call.
    let (items, counts) = interruptions(&format!("{READ}1 rt_sigreturn({{mask=[]}}) = 0\n{again}"));
    assert_eq!((items.len(), counts), (2, [1, 0, 0]));
    // As another call that goes on with it, itself interrupted twice.
    let sleep =
        "1 nanosleep({tv_sec=9, tv_nsec=0}, 0x7ffc) = ? ERESTART_RESTARTBLOCK (Interrupted by signal)\n";
    let goes_on = "1 restart_syscall(<... resuming interrupted nanosleep ...>) = ";
    let stop = "1 --- SIGSTOP {si_signo=SIGSTOP} ---\n1 --- stopped by SIGSTOP ---\n1 --- SIGCONT {si_signo=SIGCONT} ---\n";
    let cut = "? ERESTART_RESTARTBLOCK (Interrupted by signal)\n";
    let (items, counts) =
        interruptions(&format!("{sleep}{stop}{goes_on}{cut}{stop}{goes_on}{cut}{stop}{goes_on}0\n"));
    assert_eq!((items.len(), counts), (1, [3, 0, 0]));
    assert!(items[0].starts_with("1 @0 nanosleep(") && items[0].ends_with(" = 0"), "{items:?}");
    // Whatever a handler says.
    let clone = "1 clone(child_stack=NULL, flags=SIGCHLD) = ? ERESTARTNOINTR (To be restarted)\n";
    assert_eq!(interruptions(clone), (vec![], [1, 0, 0]));
}

/// A trace that holds returns from handlers.
const STARTS: &str = "1 rseq(0x7ffc, 0x20, 0, 0x53053053) = 0\n";

#[test]
fn a_call_that_goes_on_without_a_handler_began_when_it_was_first_made() {
    let read = |at: &str, end: &str| format!("1 170000000{at} read(0, {end}\n");
    let signal = "1 1700000001.6 --- SIGCONT {si_signo=SIGCONT} ---\n";
    let cut = "0x7ffc, 5) = ? ERESTARTSYS (To be restarted if SA_RESTART is set) <0.5>";
    let starts = STARTS.replace("1 rseq", "1 1700000000.5 rseq");
    let first = read("1.0", cut);
    let once = "1 @1700000001000000000 +1100000000 read(fd 0, _, 5) = 3";
    let counted = |text: String, number: u64| {
        let (items, counts) = interruptions(&text);
        assert_eq!((&items[1..], counts), (&[once.to_owned()][..], [number, 0, 0]), "{text}");
    };
    let again = read("2.0", "\"abc\", 5) = 3 <0.1>");
    counted(format!("{starts}{first}{signal}{again}"), 1);
    counted(format!("{starts}{first}{signal}{}{signal}{again}", read("1.7", cut)), 2);
    // In halves, the second time again.
    let half = "1 1700000002.0 read(0,  <unfinished ...>\n2 1700000002.05 close(4) = 0\n1 1700000002.1 <... read resumed>\"abc\", 5) = 3 <0.1>\n";
    let text = format!("{starts}{first}{signal}{half}");
    let announced =
        parse(text.as_bytes()).items.into_iter().filter(|item| item.starts_with("entered 1")).count();
    assert_eq!((announced, interruptions(&text).0.last().unwrap().as_str()), (1, once));
    // Behind a handler the call is another one.
    let returns = "1 1700000001.8 rt_sigreturn({mask=[]}) = 0\n";
    let (items, counts) = interruptions(&format!("{starts}{first}{signal}{returns}{again}"));
    assert_eq!(counts, [1, 0, 0]);
    assert!(items.last().unwrap().starts_with("1 @1700000002000000000 +100000000 read("), "{items:?}");
}

#[test]
fn a_restart_that_never_returns_is_one_call_without_a_result() {
    for end in ["1 +++ killed by SIGKILL +++\n", ""] {
        let text = format!("{STARTS}{READ}1 read(0,  <unfinished ...>\n{end}");
        let (items, counts) = interruptions(&text);
        let reads: Vec<&str> =
            items.iter().map(String::as_str).filter(|item| item.contains("read(")).collect();
        assert_eq!((reads, counts), (vec!["1 @1 read(fd 0) = ?"], [1, 0, 0]), "{end}");
    }
}

#[test]
fn handlers_may_be_interrupted_themselves() {
    let wait = "1 wait4(-1, 0x7ffc, 0, NULL) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)\n";
    let signal = "1 --- SIGCHLD {si_signo=SIGCHLD} ---\n";
    // The handler waits, too, but not for ever; the read in it is restarted, then fails; at last the first wait does.
    let text = format!(
        "{wait}{signal}1 wait4(-1, [{{WIFEXITED(s) && WEXITSTATUS(s) == 0}}], WNOHANG, NULL) = 9\n{READ}1 rt_sigreturn({{mask=[]}}) = 0\n{READ}1 rt_sigreturn({{mask=[]}}) = -1 EINTR (Interrupted system call)\n1 rt_sigreturn({{mask=[]}}) = -1 EINTR (Interrupted system call)\n"
    );
    let (items, counts) = interruptions(&text);
    assert_eq!(counts, [1, 2, 0]);
    let failed: Vec<&String> =
        items.iter().filter(|item| item.ends_with("= EINTR") && !item.contains("rt_")).collect();
    assert_eq!(failed, ["1 @6 +2000 read(fd 0, _, 5) = EINTR", "1 @0 wait4(-1, 32764, 0, NULL) = EINTR"]);
    // Two handlers one upon the other: the first to return comes back into the second.
    let text = format!(
        "{READ}{signal}1 rt_sigreturn({{mask=[ALRM]}}) = 0\n1 close(3) = 0\n1 rt_sigreturn({{mask=[]}}) = -1 EINTR (Interrupted system call)\n"
    );
    assert_eq!(interruptions(&text).1, [0, 1, 0]);
}

#[test]
fn what_nothing_shows_is_not_known() {
    for end in [
        "",
        "1 +++ killed by SIGALRM +++\n",
        "1 close(3) = 0\n1 exit_group(0) = ?\n1 +++ exited with 0 +++\n",
        "1 execve(\"/bin/true\", [\"true\"], NULL) = 0\n",
        "2 +++ superseded by execve in pid 1 +++\n",
    ] {
        let (items, counts) = interruptions(&format!("{READ}{end}"));
        assert_eq!(counts, [0, 0, 1], "{end}");
        assert_eq!(
            items.iter().filter(|item| *item == "1 @0 +2000 read(fd 0, _, 5) = ?").count(),
            1,
            "{end}"
        );
        assert!(items[0].contains("read") || items[0].contains("close"), "not behind the end: {items:?}");
    }
    // A program that leaves its handlers with a jump, for ever.
    let jumps = format!("{READ}1 close(3) = 0\n").repeat(100);
    assert_eq!(interruptions(&jumps).1, [0, 0, 100]);
    // A second half alone.
    let orphan = "1 <... read resumed>0x7ffc, 5) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)\n";
    assert_eq!(interruptions(orphan).1, [0, 0, 1]);
}

#[test]
fn orphaned_second_halves_start_before_they_end() {
    let parsed = parse(b"1 100000000.5 <... read resumed>\"a), b\", 5) = 3 <0.25>\n");
    assert_eq!(parsed.items, ["1 @100000000250000000 +250000000 read() = 3"]);
    assert_eq!(parsed.coverage.incomplete, 1);
}

#[test]
fn nameless_threads_keep_one_id() {
    let parsed = parse(
        b"openat(AT_FDCWD, \"a\", O_RDONLY) = 3\nclone(child_stack=NULL, flags=SIGCHLDstrace: Process 12 attached\n, child_tidptr=0x1) = 12\n[pid 11] close(3) = 0\n[pid 12] close(3) = 0\n[pid 11] +++ exited with 0 +++\nclose(4) = 0\n+++ exited with 0 +++\n",
    );
    let threads: Vec<&str> = parsed
        .items
        .iter()
        .map(|item| item.trim_start_matches("entered ").split(' ').next().unwrap())
        .collect();
    assert_eq!(threads, ["0", "0", "0", "0", "12", "0", "12", "12"]);
}

#[test]
fn a_thread_that_execs_takes_over_the_leaders_id() {
    let parsed = parse(
        b"11 pause( <unfinished ...>\n12 execve(\"/bin/true\", [\"true\"], NULL <unfinished ...>\n11 <... pause resumed>) = ?\n11 +++ superseded by execve in pid 12 +++\n11 <... execve resumed>) = 0\n",
    );
    assert_eq!(
        parsed.items,
        [
            "entered 11 @0 pause() = ?",
            "entered 12 @1 execve(\"/bin/true\", strings \"true\", NULL) = ?",
            "11 @0 pause() = ?",
            "11 @3 superseded by 12",
            "11 @1 execve(\"/bin/true\", strings \"true\", NULL) = 0",
        ]
    );
    assert_eq!(parsed.coverage.incomplete, 0);
}

#[test]
fn output_inside_a_write_is_taken_out() {
    let parsed =
        parse(b"[pid 7] write(1, \"hi\\n\", 3hi\n)     = 3\n[pid 7] write(2, \"ho\\n\", 3ho\n[pid 8] close(3) = 0\n");
    assert_eq!(
        parsed.items,
        [
            "entered 7 @0 write(fd 1, _, 3) = ?",
            "7 @0 write(fd 1, _, 3) = 3",
            "entered 7 @1 write(fd 2, _, 3) = ?",
            "7 @1 write(fd 2, _, 3) = ?",
            "8 @2 close(fd 3) = 0",
        ]
    );
    let lines = &parsed.coverage.lines;
    assert_eq!((lines.unfinished, lines.resumed, lines.event, lines.unparsed), (2, 1, 1, 0));
}

#[test]
fn a_tip_is_noise_to_its_last_line() {
    let tip = concat!(
        "  ______________________________________________         ____\n",
        " /                                              \\       /    \\\n",
        " | Want to trace I/O?                            _\\   /..   \\_/\n",
        " \\______________________________________________/        |   [\n",
        "                                                         [  ]\n",
        "1 close(3) = 0\n",
    );
    let parsed = parse(tip.as_bytes());
    assert_eq!(parsed.items, ["1 @0 close(fd 3) = 0"]);
    assert_eq!(parsed.coverage.noise.iter().collect::<Vec<_>>(), [(&"tips".to_owned(), &5)]);
}

#[test]
fn an_input_that_ends_in_the_middle_of_a_line_says_so() {
    for (text, ending) in [
        ("1 close(3) = 0\n", Ending::Whole),
        ("1 close(3) = 0\n1 read(3, \"ab", Ending::Cut(2)),
        ("1 close(3) = 0\n1 read(3,  <unfin", Ending::Cut(2)),
        ("1 close(3) = 0\n1 read(3, \"ab\", 2) = 12", Ending::Doubtful),
        ("1 close(3) = 0 <0.000012>", Ending::Whole),
        ("1 +++ exited with 0 +++", Ending::Whole),
    ] {
        let mut parser = Parser::new(setup());
        parser.parse(
            text.as_bytes(),
            true,
            &mut Dictionaries::default(),
            &mut |_: RawItem<'_>, _: &mut Dictionaries| {},
        );
        assert_eq!(parser.ending(), ending, "{text}");
        assert_eq!(parser.coverage().lines.unparsed, u64::from(matches!(ending, Ending::Cut(_))), "{text}");
    }
}

#[test]
fn lines_beyond_the_limit_are_skipped() {
    let mut input = vec![b'x'; iotrail_strace::parser::MAX_LINE_BYTES + 10];
    input.extend_from_slice(b"\n1 close(3) = 0\n");
    for piece in [usize::MAX, 8 << 20] {
        let parsed = crate::parser::support::parse_in_pieces(&input, piece);
        assert_eq!(parsed.items, ["1 @0 close(fd 3) = 0"]);
        assert_eq!((parsed.coverage.lines.total, parsed.coverage.lines.unparsed), (2, 1));
        assert_eq!(parsed.coverage.examples[0].line, 1);
    }
}

#[test]
fn descriptors_that_came_with_a_message_are_told_after_the_call() {
    let items = items_of(
        br#"recvmsg(3, {msg_iov=[{iov_base="x", iov_len=1}], msg_iovlen=1, msg_control=[{cmsg_len=24, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[4</a>(deleted), 5]}], msg_flags=0}, 0) = 1"#,
    );
    assert_eq!(items[1..], [r#"7 receives 4 → "/a" deleted"#, "7 receives 5"]);
}

#[test]
fn what_strace_returned_in_place_of_a_call_is_told() {
    check(&[
        (r#"write(3, "x", 50) = 50 (INJECTED)"#, "@0 write(fd 3, _, 50) = 50  injected"),
        (
            r#"lseek(3, 0, SEEK_SET) = -1 EIO (Input/output error) (INJECTED)"#,
            "@0 lseek(fd 3, 0, SEEK_SET) = -1 EIO injected",
        ),
    ]);
}

#[test]
fn lines_that_were_not_understood_may_have_been_calls() {
    let lost = |line: &str| {
        let items = parse(format!("100 close(9) = 0\n{line}\n100 close(8) = 0\n").as_bytes()).items;
        assert_eq!(items.len() - 2, usize::from(items.len() > 2), "{items:?}");
        items.get(1).filter(|_| items.len() > 2).cloned()
    };
    let is = |text: &str| Some(text.to_owned());
    assert_eq!(
        lost(r#"100 write(3</w/q>, "aa"..., 50"#),
        is(r#"100 lost 100 @0 write(fd 3 → "/w/q", _, 50) = ?"#)
    );
    assert_eq!(lost("100 17000000"), is("100 lost "));
    assert_eq!(lost("100 1700000000.000010 wri"), is("100 lost "));
    assert_eq!(lost("100 <... write resumed>) = "), is("100 lost 100 @0 write() = ?"));
    assert_eq!(lost("10"), is("0 lost "));
    // What is left of several calls may be of any thread.
    assert_eq!(lost(r#"q>, "aa"..., 100) = 100 <0.000001>"#), is("4294967295 lost "));
    assert_eq!(
        lost(r#"100 1.5 fstat(4</w/r>, {st_size=0, ...}) = 0 <0.1>100 1.6 read(3, "aa"..., 9)      = 9"#),
        is("4294967295 lost ")
    );
    assert_eq!(lost("Hello, world"), None);
}

#[test]
fn lines_with_holes_of_zeros_are_not_understood() {
    let text = "1 10:00:00.1 close(3) = 0\n1 10:00:00.2 wri\0\0te(3, \"\", 1) = 1\n\0\0\0\0\n\
                1 10:00:00.3 write(1, \"a\0\"..., 9) = 9\n1 10:00:00.4 close(4) = 0\n";
    let parsed = parse(text.as_bytes());
    let lines = &parsed.coverage.lines;
    assert_eq!((lines.event, lines.unparsed), (2, 3), "{:?}", parsed.coverage.examples);
    assert_eq!(parsed.coverage.examples.len(), 3);
}
