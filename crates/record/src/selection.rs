//! From a set of calls to the filter that stops at them.
//!
//! Beside the set itself a tracer needs to see the calls that end the handling of a signal and those that go on with
//! an interrupted call: they decide how that one ended.

use iotrail_decode::{Abi, CallSet, Condition, Registers, call_of};
use iotrail_model::calls::{CallKind, spec};
use iotrail_mpi_abi::{ANNOUNCE, Announcement};
use iotrail_ptrace::{
    AUDIT_ARCH_AARCH64, AUDIT_ARCH_I386, AUDIT_ARCH_X86_64, Filter, FilterError, Rule, Test,
};

/// Set in the numbers of x32 calls.
const X32_BIT: u64 = 0x4000_0000;
/// No table of the kernel has larger numbers.
const LARGEST: u32 = 1023;

/// What a call has to do with the cores of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cores {
    Asked,
    Chosen,
}

impl Cores {
    /// What this kind of call has to do with them.
    #[inline]
    pub(crate) fn of(kind: CallKind) -> Option<Self> {
        match kind {
            CallKind::GetAffinity => Some(Self::Asked),
            CallKind::SetAffinity => Some(Self::Chosen),
            _ => None,
        }
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

/// What a recording needs to see beside the calls that were asked for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Needs {
    /// Calls about cores.
    pub(crate) cores: bool,
    /// What programs announce that tell of their MPI calls.
    pub(crate) announcements: bool,
}

/// The filter that stops at the calls of `set` and at what else is needed, on the machine that this is built for.
pub(crate) fn filter(set: &CallSet, needs: Needs) -> Result<Filter, FilterError> {
    let rules = |abi| {
        let mut rules = rules(set, abi, needs.cores);
        if needs.announcements {
            announced(&mut rules, abi);
        }
        rules
    };
    if cfg!(target_arch = "aarch64") {
        return Filter::new(&[(AUDIT_ARCH_AARCH64, rules(Abi::Aarch64))]);
    }
    let mut native = rules(Abi::X86_64);
    native.extend(rules(Abi::X32));
    Filter::new(&[(AUDIT_ARCH_X86_64, native), (AUDIT_ARCH_I386, rules(Abi::I386))])
}

/// Adds the call by which a program announces something to its recorder.
fn announced(rules: &mut Vec<Rule>, abi: Abi) {
    let Some(number) = number_of_prctl(abi) else { return };
    let test = Test { arg: 0, mask: u64::MAX, value: ANNOUNCE, negated: false };
    match rules.iter_mut().find(|rule| rule.number == number) {
        Some(rule) if rule.when.is_empty() => {}
        Some(rule) => rule.when.push(test),
        None => rules.push(Rule { number, when: vec![test] }),
    }
}

/// What a program announces to its recorder by this call, and the number that it says.
pub(crate) fn announcement(registers: &Registers) -> Option<(Announcement, u64)> {
    let is_announced = registers.args[0] == ANNOUNCE
        && number_of_prctl(registers.abi).is_some_and(|number| u64::from(number) == registers.number);
    let what = is_announced.then(|| Announcement::of(registers.args[1])).flatten()?;
    Some((what, registers.args[2]))
}

/// Programs that speak are those of this machine's own word size.
const fn number_of_prctl(abi: Abi) -> Option<u32> {
    match abi {
        Abi::X86_64 => Some(157),
        Abi::Aarch64 => Some(167),
        _ => None,
    }
}

/// Chooses calls where no filter does, by the same rules.
#[derive(Debug)]
pub(crate) struct Chooser {
    calls: CallSet,
    /// By number without the bit of x32.
    numbers: Vec<(Abi, Vec<bool>)>,
}

impl Chooser {
    pub(crate) fn new(calls: &CallSet) -> Self {
        let abis = [Abi::X86_64, Abi::I386, Abi::X32, Abi::Aarch64];
        let numbers = abis.into_iter().map(|abi| {
            let mut chosen = vec![false; LARGEST as usize + 1];
            for rule in rules(calls, abi, true) {
                if let Some(place) = chosen.get_mut((u64::from(rule.number) & !X32_BIT) as usize) {
                    *place = true;
                }
            }
            (abi, chosen)
        });
        Self { numbers: numbers.collect(), calls: calls.clone() }
    }

    /// Whether a filter would stop at this call.
    pub(crate) fn chooses(&self, registers: &Registers) -> bool {
        let Some((abi, numbers)) = self.numbers.iter().find(|(abi, _)| *abi == registers.abi) else {
            return self.calls.unnamed();
        };
        let number = if *abi == Abi::X32 { registers.number & !X32_BIT } else { registers.number };
        let chosen = usize::try_from(number).ok().and_then(|number| numbers.get(number).copied());
        chosen.unwrap_or(self.calls.unnamed()) && self.holds(registers)
    }

    /// Whether a condition of the call holds, if it has any.
    fn holds(&self, registers: &Registers) -> bool {
        let conditions = u32::try_from(registers.number)
            .map_or(&[][..], |number| self.calls.conditions(registers.abi, number));
        let holds = |condition: &Condition| {
            let value = registers.args.get(usize::from(condition.argument)).copied().unwrap_or_default();
            (value & condition.mask == condition.value) != condition.negated
        };
        conditions.is_empty() || conditions.iter().any(holds)
    }
}

fn rules(set: &CallSet, abi: Abi, cores: bool) -> Vec<Rule> {
    let bit = if abi == Abi::X32 { X32_BIT as u32 } else { 0 };
    let call = |number: u32| call_of(abi, u64::from(number));
    let own = (0..=LARGEST).map(|number| number | bit).filter(|number| {
        let Some(kind) = call(*number).and_then(spec).map(|spec| spec.kind) else { return set.unnamed() };
        let is_own = matches!(kind, CallKind::SignalReturn | CallKind::Restart);
        is_own || (cores && Cores::of(kind).is_some())
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
    fn calls_are_chosen_as_a_filter_would() {
        let chooser = Chooser::new(&CallSet::parse("io").unwrap());
        let chooses = |abi, number, args| chooser.chooses(&Registers { abi, number, args });
        assert!(chooses(Abi::X86_64, 0, [0; 6]), "read");
        assert!(chooses(Abi::X32, X32_BIT, [0; 6]), "read");
        assert!(chooses(Abi::I386, 3, [0; 6]), "read");
        assert!(!chooses(Abi::X86_64, 39, [0; 6]), "getpid");
        assert!(chooses(Abi::X86_64, 9, [0, 4096, 1, 2, 3, 0]), "mmap of a file");
        assert!(!chooses(Abi::X86_64, 9, [0, 4096, 3, 0x22, u64::MAX, 0]), "anonymous mmap");
        assert!(chooses(Abi::X86_64, 9, [4096, 4096, 3, 0x32, u64::MAX, 0]), "in the place of a mapped file");
        assert!(chooses(Abi::X86_64, 15, [0; 6]), "rt_sigreturn is for the tracer itself");
        assert!(chooses(Abi::Unknown(7), 1, [0; 6]), "is counted");
    }

    #[test]
    fn every_set_makes_a_filter() {
        for words in ["io", "file", "desc", "all", "read"] {
            for announcements in [false, true] {
                filter(&CallSet::parse(words).unwrap(), Needs { cores: true, announcements }).unwrap();
            }
        }
    }
}
