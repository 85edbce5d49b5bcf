//! What a process asks of a CPU, and who makes it ask.

/// What a process asks of a CPU.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    pub ns: u64,
    /// It is done in the kernel, where nobody is interrupted.
    pub kernel: bool,
}

/// Who makes a process ask for CPU time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// It was never off its CPU.
    Itself,
    /// Another process or a timer: a CPU that idles must be woken up too.
    Another,
    /// Another process, which releases the log.
    Session { waker: u32 },
    /// The log device: what it takes to be back on a CPU that idles is in the device's time.
    Device,
    /// Its client or its server, with what it takes to be on a CPU that idles.
    OtherSide { waker: u32, exit_ns: u64 },
}

/// Who waits for a CPU.
#[derive(Debug, Clone, Copy)]
pub struct Ready {
    pub process: u32,
    pub work: Work,
}
