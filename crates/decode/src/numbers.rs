//! Which call a number stands for, on each architecture.

use super::plan::Plan;
use crate::Abi;
use iotrail_model::CallId;
use iotrail_model::calls;
use std::sync::LazyLock;
use syscalls::{aarch64, x86, x86_64};

/// Set in the numbers of x32 calls.
pub(super) const X32_BIT: u64 = 0x4000_0000;

/// The row of the call table for a number; `None` if the number has no name.
#[must_use]
pub fn call_of(abi: Abi, number: u64) -> Option<CallId> {
    plan_of(abi, number).map(|plan| plan.call)
}

/// How to decode the call of a number; `None` if the number has no name.
#[inline]
pub(super) fn plan_of(abi: Abi, number: u64) -> Option<&'static Plan> {
    let number = if abi == Abi::X32 { number & !X32_BIT } else { number };
    plans(abi).get(usize::try_from(number).ok()?)?.as_ref()
}

/// How to decode the calls of an architecture, by number (without the bit of x32); empty if it is not known.
#[inline]
pub(super) fn plans(abi: Abi) -> &'static [Option<Plan>] {
    static X86_64: LazyLock<Vec<Option<Plan>>> = LazyLock::new(|| by_number(Abi::X86_64, x86_64_name));
    static I386: LazyLock<Vec<Option<Plan>>> = LazyLock::new(|| by_number(Abi::I386, i386_name));
    static X32: LazyLock<Vec<Option<Plan>>> = LazyLock::new(|| by_number(Abi::X32, x32_name));
    static AARCH64: LazyLock<Vec<Option<Plan>>> = LazyLock::new(|| by_number(Abi::Aarch64, aarch64_name));
    match abi {
        Abi::X86_64 => &X86_64,
        Abi::I386 => &I386,
        Abi::X32 => &X32,
        Abi::Aarch64 => &AARCH64,
        Abi::Unknown(_) => &[],
    }
}

/// No table has larger numbers (without the bit of x32).
const LARGEST: usize = 1023;

fn by_number(abi: Abi, name: impl Fn(usize) -> Option<&'static str>) -> Vec<Option<Plan>> {
    let name = |number: usize| name(number).or_else(|| calls::numbers::shared(u32::try_from(number).ok()?));
    let mut plans: Vec<_> =
        (0..=LARGEST).map(|number| Some(Plan::new(abi, calls::id(name(number)?)?))).collect();
    plans.truncate(plans.iter().rposition(Option::is_some).map_or(0, |last| last + 1));
    plans
}

fn x86_64_name(number: usize) -> Option<&'static str> {
    x86_64::Sysno::new(number).map(|call| call.name())
}

fn i386_name(number: usize) -> Option<&'static str> {
    let name = x86::Sysno::new(number)?.name();
    Some(name.strip_prefix("r#").unwrap_or(name))
}

fn aarch64_name(number: usize) -> Option<&'static str> {
    match aarch64::Sysno::new(number)?.name() {
        "fstatat" => Some("newfstatat"),
        name => Some(name),
    }
}

/// Where x32 has calls of its own, in order (`arch/x86/entry/syscalls/syscall_64.tbl`).
const FIRST_OF_X32: usize = 512;
#[rustfmt::skip]
static OF_X32: [&str; 36] = [
    "rt_sigaction", "rt_sigreturn", "ioctl", "readv", "writev", "recvfrom", "sendmsg", "recvmsg",
    "execve", "ptrace", "rt_sigpending", "rt_sigtimedwait", "rt_sigqueueinfo", "sigaltstack", "timer_create", "mq_notify",
    "kexec_load", "waitid", "set_robust_list", "get_robust_list", "vmsplice", "move_pages", "preadv", "pwritev",
    "rt_tgsigqueueinfo", "recvmmsg", "sendmmsg", "process_vm_readv", "process_vm_writev", "setsockopt", "getsockopt", "io_setup",
    "io_submit", "execveat", "preadv2", "pwritev2",
];

fn x32_name(number: usize) -> Option<&'static str> {
    match number.checked_sub(FIRST_OF_X32) {
        Some(index) => OF_X32.get(index).copied(),
        // The kernel takes the 64-bit variant of a replaced call, too, but reads structures in the other layout then.
        None => x86_64_name(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::calls::spec;

    fn name(abi: Abi, number: u64) -> Option<&'static str> {
        call_of(abi, number).and_then(spec).map(|spec| spec.name)
    }

    #[test]
    fn numbers_have_the_names_of_their_architecture() {
        assert_eq!(name(Abi::X86_64, 0), Some("read"));
        assert_eq!(name(Abi::X86_64, 262), Some("newfstatat"));
        assert_eq!(name(Abi::X86_64, 469), Some("file_setattr"));
        assert_eq!(name(Abi::I386, 3), Some("read"));
        assert_eq!(name(Abi::I386, 140), Some("_llseek"));
        assert_eq!(name(Abi::X32, X32_BIT), Some("read"));
        assert_eq!(name(Abi::X32, X32_BIT | 515), Some("readv"));
        assert_eq!(name(Abi::X32, X32_BIT | 547), Some("pwritev2"));
        assert_eq!(name(Abi::Aarch64, 63), Some("read"));
        assert_eq!(name(Abi::Aarch64, 79), Some("newfstatat"));
        assert_eq!(name(Abi::X86_64, 400), None);
        assert_eq!(name(Abi::X86_64, u64::MAX), None);
        assert_eq!(name(Abi::Unknown(7), 0), None);
    }

    #[test]
    fn every_name_of_the_kernel_is_in_the_call_table() {
        for number in 0..=LARGEST {
            let names = [x86_64_name(number), aarch64_name(number), i386_name(number)];
            for (name, abi) in names.iter().zip([Abi::X86_64, Abi::Aarch64, Abi::I386]) {
                assert_eq!(name.is_some(), call_of(abi, number as u64).is_some(), "{name:?}");
            }
        }
    }
}
