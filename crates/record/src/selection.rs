//! From a set of calls to the filter that stops at them.
//!
//! Beside the set itself a tracer needs to see the calls that end the handling of a signal and those that go on with
//! an interrupted call: they decide how that one ended.

use crate::decode::{CallSet, call_of};
use crate::tracee::Abi;
use iotrail_model::CallId;
use iotrail_model::calls::TABLE;
use iotrail_ptrace::{
    AUDIT_ARCH_AARCH64, AUDIT_ARCH_I386, AUDIT_ARCH_X86_64, Filter, FilterError, Rule, Test,
};

/// Set in the numbers of x32 calls.
const X32_BIT: u64 = 0x4000_0000;
/// No table of the kernel has larger numbers.
const LARGEST: u32 = 1023;

/// Calls that matter to the tracer itself, by row of the call table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    sigreturn: [Option<CallId>; 2],
    restart: Option<CallId>,
    close: Option<CallId>,
}

impl Known {
    pub(crate) fn new() -> Self {
        let row = |name| TABLE.iter().position(|spec| spec.name == name).map(CallId::from_index);
        Self {
            sigreturn: [row("rt_sigreturn"), row("sigreturn")],
            restart: row("restart_syscall"),
            close: row("close"),
        }
    }

    /// Whether the call ends the handling of a signal.
    #[inline]
    pub(crate) fn ends_handler(&self, call: Option<CallId>) -> bool {
        call.is_some() && self.sigreturn.contains(&call)
    }

    /// Whether the call goes on with an interrupted one.
    #[inline]
    pub(crate) fn goes_on(&self, call: Option<CallId>) -> bool {
        call.is_some() && self.restart == call
    }

    /// Whether the call closes a descriptor.
    #[inline]
    pub(crate) fn closes(&self, call: Option<CallId>) -> bool {
        call.is_some() && self.close == call
    }
}

/// The conventions of a call.
#[inline]
pub(crate) fn abi(arch: u32, number: u64) -> Abi {
    match arch {
        AUDIT_ARCH_X86_64 if number & X32_BIT != 0 => Abi::X32,
        AUDIT_ARCH_X86_64 => Abi::X86_64,
        AUDIT_ARCH_I386 => Abi::I386,
        AUDIT_ARCH_AARCH64 => Abi::Aarch64,
        other => Abi::Unknown(other),
    }
}

/// The filter that stops at the calls of `set`, on the machine that this is built for.
pub(crate) fn filter(set: &CallSet) -> Result<Filter, FilterError> {
    let known = Known::new();
    if cfg!(target_arch = "aarch64") {
        return Filter::new(&[(AUDIT_ARCH_AARCH64, rules(set, Abi::Aarch64, &known))]);
    }
    let mut native = rules(set, Abi::X86_64, &known);
    native.extend(rules(set, Abi::X32, &known));
    Filter::new(&[(AUDIT_ARCH_X86_64, native), (AUDIT_ARCH_I386, rules(set, Abi::I386, &known))])
}

fn rules(set: &CallSet, abi: Abi, known: &Known) -> Vec<Rule> {
    let bit = if abi == Abi::X32 { X32_BIT as u32 } else { 0 };
    let call = |number: u32| call_of(abi, u64::from(number));
    let own = (0..=LARGEST).map(|number| number | bit).filter(|number| {
        let call = call(*number);
        known.ends_handler(call) || known.goes_on(call) || (call.is_none() && set.unnamed())
    });
    let own = own.map(|number| Rule { number, when: Vec::new() });
    let chosen = set.numbers(abi).into_iter().map(|number| Rule {
        number,
        when: set
            .conditions(abi, number)
            .iter()
            .map(|condition| Test {
                arg: condition.argument,
                mask: condition.mask,
                value: condition.value,
                negated: condition.negated,
            })
            .collect(),
    });
    // Of several rules for a number the first counts.
    own.chain(chosen).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conventions_are_told_apart() {
        assert_eq!(abi(AUDIT_ARCH_X86_64, 0), Abi::X86_64);
        assert_eq!(abi(AUDIT_ARCH_X86_64, X32_BIT), Abi::X32);
        assert_eq!(abi(AUDIT_ARCH_I386, 3), Abi::I386);
        assert_eq!(abi(7, 3), Abi::Unknown(7));
    }

    #[test]
    fn every_set_makes_a_filter() {
        for words in ["io", "file", "desc", "all", "read"] {
            filter(&CallSet::parse(words).unwrap()).unwrap();
        }
    }
}
