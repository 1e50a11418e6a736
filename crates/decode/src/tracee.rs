//! What a decoder sees of a stopped thread: registers and memory, whoever stopped it.

/// The conventions by which a thread made a call (`AUDIT_ARCH_*`): numbers, widths and layouts differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Abi {
    /// 64-bit x86.
    X86_64,
    /// 32-bit x86, also within 64-bit programs (`int 0x80`).
    I386,
    /// x86-64 with 32-bit pointers.
    X32,
    /// 64-bit ARM.
    Aarch64,
    /// Something else; its calls are counted, not decoded.
    Unknown(u32),
}

/// A call as the registers show it at its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    /// Calling convention by which the registers are read.
    pub abi: Abi,
    /// Number of the call in the table of the ABI.
    pub number: u64,
    /// Argument registers in the order of the kernel's signature.
    pub args: [u64; 6],
}

/// What the registers say a call returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returned {
    /// The call succeeded with this value.
    Value(i64),
    /// An error number, positive.
    Error(i32),
}

/// The memory of a traced process.
pub trait Memory {
    /// Reads from `address` into `buffer`; returns how many bytes could be read (0 if the address is bad).
    fn read(&self, address: u64, buffer: &mut [u8]) -> usize;
}
