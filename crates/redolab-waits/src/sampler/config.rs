//! What a sampler is told: whom to look at, and how often.

/// What to sample and how often.
#[derive(Clone, Debug)]
pub struct Config {
    /// The server's first process.
    pub postmaster: u32,
    /// Mean ticks per second.
    pub rate_per_s: f64,
    /// Of the gaps between ticks.
    pub seed: u64,
    /// Processes that are not looked at: the measuring program's own.
    pub leave_out: Vec<u32>,
    /// Events in which a commit waits for its flush.
    pub log_sync: Vec<u32>,
    /// Events that are a write or flush of the log.
    pub log_write: Vec<u32>,
    /// Mean bursts per second; 0 for none.
    pub bursts_per_s: f64,
}
