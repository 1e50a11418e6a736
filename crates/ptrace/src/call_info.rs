//! The call that a stopped thread is in, in a form that all architectures share (`PTRACE_GET_SYSCALL_INFO`, Linux 5.3).

use crate::filter::MARK;

/// A stop at a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallInfo {
    /// The conventions of the call (`AUDIT_ARCH_*`).
    pub arch: u32,
    /// Instruction pointer.
    pub instruction: u64,
    /// Stack pointer.
    pub stack: u64,
    /// Which side of the call.
    pub phase: Phase,
    /// At a stop of a filter: whether it was one of ours that selected the call. A program may ask for a tracer with a
    /// filter of its own (`SECCOMP_RET_TRACE`); without one its call fails with ENOSYS.
    pub ours: bool,
}

/// Which side of a call a thread is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It is about to make it.
    Entry {
        /// Number of the call.
        number: u64,
        /// Arguments.
        args: [u64; 6],
    },
    /// It has made it.
    Exit {
        /// What the registers hold: negative error numbers for failures, the kernel's internal ones included.
        value: i64,
        /// Whether that is an error.
        failed: bool,
    },
    /// It is at no call.
    None,
}

/// Words of the kernel's `struct ptrace_syscall_info`: op and arch, ip, sp, number, six arguments, the filter's data.
pub(crate) type Raw = [u64; 11];

const OP_ENTRY: u64 = 1;
const OP_EXIT: u64 = 2;
const OP_SECCOMP: u64 = 3;

impl CallInfo {
    pub(crate) fn of(raw: &Raw) -> Self {
        let bytes = raw[0].to_ne_bytes();
        let arch = u32::from_ne_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
        let phase = match u64::from(bytes[0]) {
            OP_ENTRY | OP_SECCOMP => {
                Phase::Entry { number: raw[3], args: [raw[4], raw[5], raw[6], raw[7], raw[8], raw[9]] }
            }
            OP_EXIT => Phase::Exit { value: raw[3] as i64, failed: raw[4].to_ne_bytes()[0] != 0 },
            _ => Phase::None,
        };
        let ours = u64::from(bytes[0]) != OP_SECCOMP || raw[10] as u32 == MARK;
        Self { arch, instruction: raw[1], stack: raw[2], phase, ours }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(op: u8, arch: u32) -> u64 {
        let arch = arch.to_ne_bytes();
        u64::from_ne_bytes([op, 0, 0, 0, arch[0], arch[1], arch[2], arch[3]])
    }

    #[test]
    fn both_sides_of_a_call_are_read() {
        let raw: Raw = [head(3, 0xc000_003e), 0x1000, 0x2000, 257, 1, 2, 3, 4, 5, 6, u64::from(MARK)];
        let entry = CallInfo::of(&raw);
        assert_eq!((entry.arch, entry.instruction, entry.stack), (0xc000_003e, 0x1000, 0x2000));
        assert_eq!(entry.phase, Phase::Entry { number: 257, args: [1, 2, 3, 4, 5, 6] });

        assert!(entry.ours);
        assert!(!CallInfo::of(&[head(3, 7), 0, 0, 0, 0, 0, 0, 0, 0, 0, 3]).ours);
        assert!(CallInfo::of(&[head(1, 7), 0, 0, 0, 0, 0, 0, 0, 0, 0, 3]).ours, "no filter stopped it");

        let failed = u64::from_ne_bytes([1, 0, 0, 0, 0, 0, 0, 0]);
        let raw: Raw = [head(2, 0x4000_0003), 0, 0, -2_i64 as u64, failed, 0, 0, 0, 0, 0, 0];
        assert_eq!(CallInfo::of(&raw).phase, Phase::Exit { value: -2, failed: true });
        assert_eq!(CallInfo::of(&[0; 11]).phase, Phase::None);
    }
}
