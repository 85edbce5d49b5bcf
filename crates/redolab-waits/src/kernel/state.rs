//! The scheduler states that a look at a process tells apart.

/// Scheduler states, by the code under which a look keeps them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum State {
    /// On a CPU.
    OnCpu = 0,
    /// Ready to run, but waiting for a CPU.
    Runnable = 1,
    /// Neither.
    Asleep = 2,
    /// The event changed while the kernel was asked.
    Unknown = 3,
    /// On a CPU or waiting for one: which of them was not asked.
    Awake = 4,
}
