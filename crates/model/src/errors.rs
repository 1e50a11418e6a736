//! Names of errors. All architectures with tables here share the numbers of `asm-generic/errno.h`.

/// The name of an error number: `ENOENT`. Numbers that no kernel returns share one name.
#[must_use]
pub fn error_name(number: i32) -> &'static str {
    let known =
        usize::try_from(number).ok().and_then(|number| NAMES.get(number)).filter(|name| !name.is_empty());
    known.copied().or_else(|| internal(number)).unwrap_or("EUNKNOWN")
}

/// Whether a number says that a signal interrupted the call before it did anything and the kernel restarts it. Programs
/// never see these; tracers do.
#[must_use]
pub fn restarts(number: i32) -> bool {
    matches!(number, 512..=514 | 516)
}

/// Errors that stay within the kernel, or ought to.
fn internal(number: i32) -> Option<&'static str> {
    Some(match number {
        512 => "ERESTARTSYS",
        513 => "ERESTARTNOINTR",
        514 => "ERESTARTNOHAND",
        515 => "ENOIOCTLCMD",
        516 => "ERESTART_RESTARTBLOCK",
        517 => "EPROBE_DEFER",
        518 => "EOPENSTALE",
        519 => "ENOPARAM",
        521 => "EBADHANDLE",
        522 => "ENOTSYNC",
        523 => "EBADCOOKIE",
        524 => "ENOTSUPP",
        525 => "ETOOSMALL",
        526 => "ESERVERFAULT",
        527 => "EBADTYPE",
        528 => "EJUKEBOX",
        529 => "EIOCBQUEUED",
        530 => "ERECALLCONFLICT",
        531 => "ENOGRACE",
        _ => return None,
    })
}

#[rustfmt::skip]
static NAMES: [&str; 134] = [
    "", "EPERM", "ENOENT", "ESRCH", "EINTR", "EIO", "ENXIO", "E2BIG", "ENOEXEC", "EBADF",
    "ECHILD", "EAGAIN", "ENOMEM", "EACCES", "EFAULT", "ENOTBLK", "EBUSY", "EEXIST", "EXDEV", "ENODEV",
    "ENOTDIR", "EISDIR", "EINVAL", "ENFILE", "EMFILE", "ENOTTY", "ETXTBSY", "EFBIG", "ENOSPC", "ESPIPE",
    "EROFS", "EMLINK", "EPIPE", "EDOM", "ERANGE", "EDEADLK", "ENAMETOOLONG", "ENOLCK", "ENOSYS", "ENOTEMPTY",
    "ELOOP", "", "ENOMSG", "EIDRM", "ECHRNG", "EL2NSYNC", "EL3HLT", "EL3RST", "ELNRNG", "EUNATCH",
    "ENOCSI", "EL2HLT", "EBADE", "EBADR", "EXFULL", "ENOANO", "EBADRQC", "EBADSLT", "", "EBFONT",
    "ENOSTR", "ENODATA", "ETIME", "ENOSR", "ENONET", "ENOPKG", "EREMOTE", "ENOLINK", "EADV", "ESRMNT",
    "ECOMM", "EPROTO", "EMULTIHOP", "EDOTDOT", "EBADMSG", "EOVERFLOW", "ENOTUNIQ", "EBADFD", "EREMCHG", "ELIBACC",
    "ELIBBAD", "ELIBSCN", "ELIBMAX", "ELIBEXEC", "EILSEQ", "ERESTART", "ESTRPIPE", "EUSERS", "ENOTSOCK", "EDESTADDRREQ",
    "EMSGSIZE", "EPROTOTYPE", "ENOPROTOOPT", "EPROTONOSUPPORT", "ESOCKTNOSUPPORT", "EOPNOTSUPP", "EPFNOSUPPORT", "EAFNOSUPPORT", "EADDRINUSE", "EADDRNOTAVAIL",
    "ENETDOWN", "ENETUNREACH", "ENETRESET", "ECONNABORTED", "ECONNRESET", "ENOBUFS", "EISCONN", "ENOTCONN", "ESHUTDOWN", "ETOOMANYREFS",
    "ETIMEDOUT", "ECONNREFUSED", "EHOSTDOWN", "EHOSTUNREACH", "EALREADY", "EINPROGRESS", "ESTALE", "EUCLEAN", "ENOTNAM", "ENAVAIL",
    "EISNAM", "EREMOTEIO", "EDQUOT", "ENOMEDIUM", "EMEDIUMTYPE", "ECANCELED", "ENOKEY", "EKEYEXPIRED", "EKEYREVOKED", "EKEYREJECTED",
    "EOWNERDEAD", "ENOTRECOVERABLE", "ERFKILL", "EHWPOISON",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_the_names_of_the_kernel() {
        let names = [1, 2, 9, 35, 39, 61, 95, 110, 122, 131, 133].map(error_name);
        let expected = [
            "EPERM",
            "ENOENT",
            "EBADF",
            "EDEADLK",
            "ENOTEMPTY",
            "ENODATA",
            "EOPNOTSUPP",
            "ETIMEDOUT",
            "EDQUOT",
            "ENOTRECOVERABLE",
            "EHWPOISON",
        ];
        assert_eq!(names, expected);
        assert_eq!([0, -1, 41, 134, 600].map(error_name), ["EUNKNOWN"; 5]);
        assert!(restarts(512) && !restarts(515) && !restarts(4));
    }
}
