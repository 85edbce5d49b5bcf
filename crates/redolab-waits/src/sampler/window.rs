//! What a sampler saw in one stretch of time.

use std::collections::HashMap;

/// Everything a sampler saw since its start or since the last reading. Times in nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct Window {
    /// Its length, pauses included.
    pub elapsed_ns: u64,
    /// Readings of the whole server.
    pub ticks: u32,
    /// Ticks that came later than half a mean gap, or that took longer than a fifth of one.
    pub late: u64,
    /// Ticks that failed as a whole.
    pub lost: u64,
    /// Looks during which the event changed.
    pub torn: u64,
    /// Looks at one process each, idle ones too.
    pub looks: u64,
    /// CPU time of the sampler.
    pub cpu_ns: u64,
    /// Whether it runs at real-time priority.
    pub realtime: bool,
    /// The postmaster, and every child that was met.
    pub processes: Vec<Watched>,
    /// Every look at a process that was not idle, in order of time.
    pub busy: Looks,
    /// Ticks that found a process (its place in `processes`) idle in an event.
    pub idle: HashMap<(u32, u32), u32>,
    /// By process (its place in `processes`) and event.
    pub wait_ends: HashMap<(u32, u32), Ends>,
    /// Whole waits of sessions for the log.
    pub log_sync: Episodes,
    /// Whole writes and flushes of the log.
    pub log_write: Episodes,
    /// Time in bursts.
    pub burst_ns: u64,
    /// Gaps between two readings of one burst.
    pub burst_gaps: u64,
    /// CPU of processes that ended, after their last reading: how much the postmaster's account of
    /// ended children grew, less what those were read to have used. Of a process that the
    /// postmaster has yet to collect it comes in the next window, so one window alone may be below 0.
    pub ended_cpu_ns: i64,
}

/// Looks as parallel arrays.
#[derive(Clone, Debug, Default)]
pub struct Looks {
    /// From 0.
    pub tick: Vec<u32>,
    /// Place in [`Window::processes`].
    pub process: Vec<u32>,
    /// As the server publishes it: class in the top byte; 0 when none is published.
    pub event: Vec<u32>,
    /// A [`crate::State`].
    pub state: Vec<u8>,
}

/// How long one process was watched in one event, and how many of its waits ended meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// Time watched, in nanoseconds.
    pub exposure_ns: u64,
    /// Ends seen.
    pub ends: u64,
}

/// Durations of waits whose beginning was seen, in seconds.
#[derive(Clone, Debug, Default)]
pub struct Episodes {
    /// Whole ones.
    pub whole_s: Vec<f64>,
    /// How long those had lasted whose end was not seen.
    pub unfinished_s: Vec<f64>,
}

/// One process in a window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    /// Process id.
    pub pid: u32,
    /// When it started, in clock ticks since the machine started.
    pub start_ticks: u64,
    /// What it is, as [`crate::Task::kind`].
    pub kind: String,
    /// A client backend's user and database, where its title tells them apart.
    pub user: Option<String>,
    /// See `user`.
    pub database: Option<String>,
    /// The first tick that looked at it.
    pub first_tick: u32,
    /// One past the last such tick.
    pub last_tick: u32,
    /// Ticks among them in which the look failed.
    pub skipped: u32,
    /// How long it lived inside the window, up to its last reading.
    pub elapsed_ns: u64,
    /// Time on a CPU inside the window, up to the last reading.
    pub cpu_ns: u64,
    /// Time ready to run but waiting for a CPU inside the window; read five times a second.
    pub run_queue_ns: u64,
    /// Whether it ended.
    pub ended: bool,
}
