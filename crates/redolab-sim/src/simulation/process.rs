//! A process of the server: what it is at, and what it has before it.

use crate::tally::State;

/// What a process is at, on a CPU or on its way there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// A part of its transaction.
    Work,
    /// Waking up because the log was released, or because it is its own now.
    Woken,
    /// Going on after that.
    Served,
    /// Waking up from its commit delay.
    Delayed,
    /// The CPU part of its flush.
    Flush,
    /// Its CPU time between two waits for the device.
    Flushing,
    /// Waking up after its flush.
    Flushed,
    /// Waking the others up after its flush.
    Post,
}

#[derive(Debug, Clone, Copy)]
pub struct Process {
    pub phase: Phase,
    pub state: State,
    /// Parts of its transaction still to be worked.
    pub parts: u32,
    /// CPU time of each but the last.
    pub part_ns: u64,
    pub last_part_ns: u64,
    /// The log that it commits to now.
    pub log: u32,
    /// That log must be flushed to here for it to go on.
    pub needs: u64,
    pub arrived_ns: u64,
    pub committing_ns: u64,
    /// Its next transaction takes longer.
    pub cold: bool,
}
