//! The parameters of the group-commit model, in seconds.

use crate::distribution::Distribution;
use crate::refused::Refused;

/// Where work comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum Load {
    /// Each session begins its next transaction when it has thought after the last.
    Closed {
        /// From the end of a transaction to the beginning of the next.
        think: Distribution,
    },
    /// Work arrives whatever becomes of it. Exponential gaps and bursts of one are Poisson arrivals.
    Open {
        /// From one burst to the next.
        gap: Distribution,
        /// Units of work in a burst.
        burst: u32,
    },
}

/// A log that a commit waits for once the first has it. Durations in seconds. What each does, the simulator's
/// `SecondLog` says.
#[derive(Debug, Clone, PartialEq)]
pub struct SecondLog {
    /// CPU time of one flush, spent by whoever flushes.
    pub flush_cpu_s: f64,
    /// Time of its device for one flush.
    pub device: Distribution,
    /// Whether it lies on a device of its own.
    pub own_device: bool,
    /// How much of a flush's time passes once the device is done, until its process is there.
    pub late_s: f64,
    /// Those whom one flush of the first log served wait for this one as one group.
    pub in_groups: bool,
    /// How long its leader sleeps before its flush.
    pub pause_s: f64,
    /// Commits that end that sleep early; 0 if none do.
    pub enough: u32,
}

/// Sessions, CPUs and one or two logs. Durations in seconds, volumes in bytes. What each does, the simulator's
/// parameters of the same names say.
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
#[derive(Debug, Clone, PartialEq)]
pub struct GroupCommitParameters {
    /// Sessions: those that loop, or the pool from which arrivals take one.
    pub sessions: u32,
    /// Where work comes from.
    pub load: Load,
    /// Effective CPUs. What is not whole slows all of them: 1.9 are two at 0.95 of their speed.
    pub cpus: f64,
    /// How long one keeps a CPU while others wait for it.
    pub quantum_s: f64,
    /// Rows per transaction.
    pub rows: u32,
    /// CPU time per row.
    pub row_cpu: Distribution,
    /// CPU time per transaction beside its rows.
    pub commit_cpu: Distribution,
    /// CPU time per transaction for each other session that is on a CPU or waits for one.
    pub contention_s: f64,
    /// Log per row.
    pub row_bytes: f64,
    /// Log per transaction beside its rows.
    pub commit_bytes: f64,
    /// CPU time of one flush, spent by whoever flushes.
    pub flush_cpu_s: f64,
    /// Time of the log device for one flush.
    pub device: Distribution,
    /// Time of the device per byte, beside `device`.
    pub device_s_per_byte: f64,
    /// Further time of the device once it has idled: how long it did, and how much more.
    pub device_after_idle_s: Vec<(f64, f64)>,
    /// How much of a flush's device time, at most half, is for the write before the flush proper.
    pub device_write_s: f64,
    /// A flush's device time is kept from its beginning on, as by a device that an emulator makes slower.
    pub device_paced: bool,
    /// The CPU that a device with a single queue tells that it is done.
    pub device_cpu: Option<u32>,
    /// CPU time of a CPU that is told that the device is done.
    pub interrupt_s: f64,
    /// CPU time to wake up after a wait for the log, going to sleep included.
    pub wake_s: f64,
    /// CPU time to wake another up, spent by whoever releases the log.
    pub post_s: f64,
    /// Further CPU time of a session that was woken up and whose commit is in the log.
    pub served_s: f64,
    /// From waking a process to its running on a CPU that idles.
    pub idle_exit_s: f64,
    /// The same where the CPU has idled so long that it is halted.
    pub halt_exit_s: f64,
    /// How long a CPU idles before it is halted.
    pub halt_after_s: f64,
    /// Further CPU time of a transaction whose caches are cold.
    pub cold_s: f64,
    /// Whether each CPU has a queue of its own.
    pub own_queues: bool,
    /// The share of the CPUs' time, 0 to 1, below which who is woken looks for a CPU that idles.
    pub spread_below: f64,
    /// The share of the CPUs' time, 0 to 1, below which a server's process comes to its client's CPU.
    pub fetch_below: f64,
    /// How often a CPU that idles looks whether somebody waits elsewhere; 0 for never.
    pub balance_s: f64,
    /// Statements that a client sends per transaction; 0 where the loop runs inside the server.
    pub statements: u32,
    /// Threads of the client, among which the sessions are dealt out.
    pub client_threads: u32,
    /// CPU time of the client per statement.
    pub client_s: f64,
    /// More where its thread has slept.
    pub client_wake_s: f64,
    /// From a statement's or an answer's being sent to the other side's running on a CPU that idles.
    pub hand_over_exit_s: f64,
    /// One flush serves every commit that waits; without it, one.
    pub group_commit: bool,
    /// Who releases a log hands it on, and wakes nobody in vain.
    pub handed_on: bool,
    /// Another log, for which a commit waits after the first.
    pub second: Option<SecondLog>,
    /// How long a leader sleeps before its flush.
    pub commit_delay_s: f64,
    /// It does so when at least so many other transactions are under way.
    pub commit_siblings: u32,
    /// Commits do not wait for the log.
    pub asynchronous: bool,
    /// The log writer flushes what there is so long after its last flush; 0 for none.
    pub writer_interval_s: f64,
    /// It also does so when so much waits to be flushed; 0 for never.
    pub writer_bytes: u64,
}

impl GroupCommitParameters {
    /// Check that this can be simulated.
    ///
    /// # Errors
    /// The first thing that cannot be, with its name.
    pub fn check(&self) -> Result<(), Refused> {
        Ok(self.nanoseconds()?.check()?)
    }

    /// Mean CPU time of a transaction before its commit, without contention, in server and client, in seconds.
    ///
    /// With a CPU for each session, caches are cold after a flush and a client's thread sleeps after each
    /// statement. Both sides' CPUs idle when they are handed one. What all that takes counts too.
    #[must_use]
    pub fn transaction_cpu_s(&self) -> f64 {
        let (mut statement_s, mut cold_s) = (self.client_s, 0.0);
        if f64::from(self.sessions) <= self.cpus {
            statement_s += self.client_wake_s + 2.0 * self.hand_over_exit_s;
            cold_s = if self.asynchronous { 0.0 } else { self.cold_s };
        }
        self.commit_cpu.mean_s()
            + f64::from(self.rows) * self.row_cpu.mean_s()
            + cold_s
            + f64::from(self.statements) * statement_s
    }

    /// Log per transaction, in bytes.
    #[must_use]
    pub fn transaction_bytes(&self) -> f64 {
        self.commit_bytes + f64::from(self.rows) * self.row_bytes
    }
}
