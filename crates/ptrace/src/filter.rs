//! Seccomp filters that select calls by number (`man 2 seccomp`), as classic BPF programs.
//!
//! The kernel runs the filter at every call of the program, also at those that nobody wants, so the numbers are found by
//! a binary search: about seven comparisons instead of a hundred. (Since Linux 5.11 a call that is always let through
//! costs one bit test; older kernels run the program.) Calls of other architectures than those asked for pass.

use thiserror::Error;

/// `AUDIT_ARCH_X86_64`; x32 calls share it and have bit 30 of the number set.
pub const AUDIT_ARCH_X86_64: u32 = 0xc000_003e;
/// `AUDIT_ARCH_I386`.
pub const AUDIT_ARCH_I386: u32 = 0x4000_0003;
/// `AUDIT_ARCH_AARCH64`.
pub const AUDIT_ARCH_AARCH64: u32 = 0xc000_00b7;

/// A call to be stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Number of the call.
    pub number: u32,
    /// It stops if any of these holds; always if there are none.
    pub when: Vec<Test>,
}

/// A condition on an argument: `args[arg] & mask == value`, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Test {
    /// Which argument, counted from 0.
    pub arg: u8,
    /// Bits to look at.
    pub mask: u64,
    /// What they must be.
    pub value: u64,
    /// Whether they must be anything else.
    pub negated: bool,
}

/// A filter that cannot be built.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum FilterError {
    /// The kernel takes 4096 instructions.
    #[error("a filter of {0} instructions is too long for the kernel, which takes 4096: select fewer calls")]
    TooLong(usize),
    /// A call has six arguments.
    #[error("a condition names argument {0}, but a call has only arguments 0 to 5")]
    NoSuchArgument(u8),
}

/// A program that stops the selected calls for a tracer and lets all others pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    program: Vec<Instruction>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instruction {
    pub(crate) code: u16,
    pub(crate) if_true: u8,
    pub(crate) if_false: u8,
    pub(crate) operand: u32,
}

/// What happens to the calls whose numbers are `start` up to the next span.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Span {
    start: u32,
    select: Option<Vec<Test>>,
}

/// What our filters tell the tracer. A program that asks for a tracer with a filter of its own says something else.
pub(crate) const MARK: u32 = 0x6f74;
const MAX_LENGTH: usize = 4096;
const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
const JUMP: u16 = (libc::BPF_JMP | libc::BPF_JA) as u16;
const IF_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const IF_AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const AND: u16 = (libc::BPF_ALU | libc::BPF_AND | libc::BPF_K) as u16;
/// Offsets in `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const ARGS: u32 = 16;

impl Filter {
    /// A filter for these calls of these architectures.
    ///
    /// # Errors
    /// Too many calls for the kernel, or a condition on an argument that does not exist.
    pub fn new(architectures: &[(u32, Vec<Rule>)]) -> Result<Self, FilterError> {
        let mut program = vec![instruction(LOAD, ARCH)];
        for (arch, rules) in architectures {
            let mut block = vec![instruction(LOAD, NUMBER)];
            block.extend(tree(&spans(rules)?));
            // Skip the block by an unconditional jump: it may be longer than a condition can reach.
            program.push(branch(IF_EQUAL, *arch, 1, 0));
            program.push(instruction(JUMP, block.len() as u32));
            program.extend(block);
        }
        program.push(instruction(RETURN, libc::SECCOMP_RET_ALLOW));
        if program.len() > MAX_LENGTH {
            return Err(FilterError::TooLong(program.len()));
        }
        Ok(Self { program })
    }

    pub(crate) fn to_kernel(&self) -> Vec<libc::sock_filter> {
        self.program
            .iter()
            .map(|i| libc::sock_filter { code: i.code, jt: i.if_true, jf: i.if_false, k: i.operand })
            .collect()
    }
}

const fn instruction(code: u16, operand: u32) -> Instruction {
    Instruction { code, if_true: 0, if_false: 0, operand }
}

const fn branch(code: u16, operand: u32, if_true: u8, if_false: u8) -> Instruction {
    Instruction { code, if_true, if_false, operand }
}

/// The whole range of numbers, cut where the decision changes. Of several rules for a number the first counts.
fn spans(rules: &[Rule]) -> Result<Vec<Span>, FilterError> {
    let mut rules = rules.to_vec();
    rules.sort_by_key(|rule| rule.number);
    rules.dedup_by_key(|rule| rule.number);
    let mut spans: Vec<Span> = vec![Span { start: 0, select: None }];
    for rule in rules {
        if let Some(test) = rule.when.iter().find(|test| test.arg > 5) {
            return Err(FilterError::NoSuchArgument(test.arg));
        }
        begin(&mut spans, Span { start: rule.number, select: Some(rule.when) });
        if let Some(next) = rule.number.checked_add(1) {
            begin(&mut spans, Span { start: next, select: None });
        }
    }
    spans.dedup_by(|next, span| next.select == span.select);
    Ok(spans)
}

/// Appends a span that starts at or behind the last one.
fn begin(spans: &mut Vec<Span>, span: Span) {
    if spans.last().is_some_and(|last| last.start == span.start) {
        spans.pop();
    }
    spans.push(span);
}

/// A binary search over spans; every leaf returns.
fn tree(spans: &[Span]) -> Vec<Instruction> {
    match spans {
        [] => vec![instruction(RETURN, libc::SECCOMP_RET_ALLOW)],
        [span] => leaf(span.select.as_deref()),
        spans => {
            let (low, high) = spans.split_at(spans.len() / 2);
            let (low, boundary) = (tree(low), high[0].start);
            let mut code = match u8::try_from(low.len()) {
                Ok(distance) => vec![branch(IF_AT_LEAST, boundary, distance, 0)],
                Err(_) => {
                    vec![branch(IF_AT_LEAST, boundary, 0, 1), instruction(JUMP, low.len() as u32)]
                }
            };
            code.extend(low);
            code.extend(tree(high));
            code
        }
    }
}

fn leaf(select: Option<&[Test]>) -> Vec<Instruction> {
    let pass = instruction(RETURN, libc::SECCOMP_RET_ALLOW);
    match select {
        None => vec![pass],
        Some([]) => vec![STOP],
        Some(tests) => tests.iter().flat_map(check).chain([pass]).collect(),
    }
}

const STOP: Instruction = instruction(RETURN, libc::SECCOMP_RET_TRACE | MARK);

/// Stops if the test holds, and goes on behind itself if not.
fn check(test: &Test) -> Vec<Instruction> {
    let half = |shift: u32| ((test.mask >> shift) as u32, (test.value >> shift) as u32);
    let (low, high) = (half(0), half(32));
    let mut code = compare(test.arg, 0, low);
    if high != (0, 0) {
        code.extend(compare(test.arg, 4, high));
    }
    // The distance from a comparison to the stop, and past it.
    let length = code.len();
    if test.negated {
        code.push(instruction(JUMP, 1));
    }
    for index in (2..length).step_by(3) {
        code[index].if_false = (length - index) as u8;
    }
    code.push(STOP);
    code
}

/// Loads a half of an argument and compares it; where to go if it differs is to be filled in.
fn compare(arg: u8, half: u32, (mask, value): (u32, u32)) -> Vec<Instruction> {
    let half = if cfg!(target_endian = "little") { half } else { 4 - half };
    vec![
        instruction(LOAD, ARGS + 8 * u32::from(arg) + half),
        instruction(AND, mask),
        branch(IF_EQUAL, value, 0, 0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel would do with a call, and after how many instructions.
    fn run(filter: &Filter, arch: u32, number: u32, args: [u64; 6]) -> (bool, usize) {
        let (mut index, mut accumulator, mut steps) = (0_usize, 0_u32, 0);
        loop {
            let i = filter.program[index];
            steps += 1;
            index += 1;
            let jump = |yes: bool| usize::from(if yes { i.if_true } else { i.if_false });
            match i.code {
                LOAD => {
                    accumulator = match i.operand {
                        NUMBER => number,
                        ARCH => arch,
                        offset => {
                            assert!(offset.is_multiple_of(4) && (ARGS..ARGS + 48).contains(&offset));
                            (args[((offset - ARGS) / 8) as usize] >> (8 * (offset % 8))) as u32
                        }
                    }
                }
                RETURN => return (i.operand == libc::SECCOMP_RET_TRACE | MARK, steps),
                JUMP => index += i.operand as usize,
                IF_EQUAL => index += jump(accumulator == i.operand),
                IF_AT_LEAST => index += jump(accumulator >= i.operand),
                AND => accumulator &= i.operand,
                other => panic!("unknown instruction {other:#x}"),
            }
        }
    }

    fn always(numbers: impl IntoIterator<Item = u32>) -> Vec<Rule> {
        numbers.into_iter().map(|number| Rule { number, when: Vec::new() }).collect()
    }

    #[test]
    fn exactly_the_selected_calls_stop() {
        let selected = [0_u32, 1, 2, 5, 17, 257, 437, 0x4000_0000, 0x4000_0207, u32::MAX];
        let filter =
            Filter::new(&[(AUDIT_ARCH_X86_64, always(selected)), (AUDIT_ARCH_I386, always([3, 4]))]).unwrap();
        for number in (0..600).chain(0x4000_0000..0x4000_0300).chain([u32::MAX - 1, u32::MAX]) {
            let stops = |arch| run(&filter, arch, number, [0; 6]).0;
            assert_eq!(stops(AUDIT_ARCH_X86_64), selected.contains(&number), "{number}");
            assert_eq!(stops(AUDIT_ARCH_I386), [3, 4].contains(&number), "{number}");
            assert!(!stops(AUDIT_ARCH_AARCH64), "{number}");
        }
    }

    #[test]
    fn conditions_look_at_arguments() {
        let test = |arg, mask, value, negated| Test { arg, mask, value, negated };
        let rules = vec![
            Rule { number: 9, when: vec![test(3, 0x20, 0, false)] },
            Rule { number: 157, when: vec![test(0, u64::MAX, 22, false), test(1, 0xff, 7, true)] },
            Rule { number: 158, when: vec![test(0, u64::MAX, 5, true)] },
        ];
        let filter = Filter::new(&[(AUDIT_ARCH_X86_64, rules)]).unwrap();
        let stops = |number, args| run(&filter, AUDIT_ARCH_X86_64, number, args).0;
        assert!(stops(9, [0, 4096, 1, 2, 3, 0]), "a file is mapped");
        assert!(!stops(9, [0, 4096, 3, 0x22, u64::MAX, 0]), "anonymous memory");
        assert!(stops(157, [22, 7, 0, 0, 0, 0]));
        assert!(!stops(157, [15, 7, 0, 0, 0, 0]));
        assert!(!stops(157, [22 | 1 << 32, 7, 0, 0, 0, 0]), "the upper half counts");
        assert!(stops(157, [15, 8, 0, 0, 0, 0]), "any of two conditions");
        assert!(!stops(157, [15, 0x107, 0, 0, 0, 0]));
        assert!(!stops(158, [5, 0, 0, 0, 0, 0]));
        assert!(stops(158, [6, 0, 0, 0, 0, 0]));
        assert!(stops(158, [5 | 1 << 40, 0, 0, 0, 0, 0]));
        assert!(!stops(10, [0; 6]));
    }

    #[test]
    fn long_trees_are_reached_by_long_jumps_and_few_steps() {
        let selected = always((0..1000).map(|number| number * 2));
        let filter = Filter::new(&[(AUDIT_ARCH_I386, always([1])), (AUDIT_ARCH_X86_64, selected)]).unwrap();
        for number in 0..2001 {
            let (stops, steps) = run(&filter, AUDIT_ARCH_X86_64, number, [0; 6]);
            assert_eq!(stops, number % 2 == 0 && number < 2000, "{number}");
            assert!(steps < 32, "{number} took {steps}");
        }
    }

    #[test]
    fn what_the_kernel_would_refuse_is_an_error() {
        let many = always((0..3000).map(|number| number * 2));
        assert!(matches!(Filter::new(&[(AUDIT_ARCH_X86_64, many)]), Err(FilterError::TooLong(_))));
        let test = Test { arg: 6, mask: 1, value: 0, negated: false };
        let wrong = vec![Rule { number: 1, when: vec![test] }];
        assert_eq!(Filter::new(&[(AUDIT_ARCH_X86_64, wrong)]), Err(FilterError::NoSuchArgument(6)));
    }
}
