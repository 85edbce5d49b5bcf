//! The parameters of a simulation, their limits, and the plan of how much is simulated.

use crate::distribution::{Distribution, Invalid};
use crate::events::MOST;

const MOST_SESSIONS: u32 = 100_000;
const MOST_THREADS: u32 = 1_000;
/// More often than this an event that comes back would be all that is simulated.
const SHORTEST_INTERVAL_NS: u64 = 1_000;
/// With fewer, hardly anything happens but ends of slices. No quota of Linux gives less: a millisecond of a second.
const LEAST_CPUS: f64 = 0.001;
const _: () = assert!(MOST_SESSIONS <= MOST);

/// Where work comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum Load {
    /// Each session begins its next transaction when it has thought after the last.
    Closed {
        /// From the end of a transaction to the beginning of the next.
        think: Distribution,
    },
    /// Work arrives whatever becomes of it; it takes a free session or waits for one, first come
    /// first served. Exponential gaps and bursts of one are Poisson arrivals.
    Open {
        /// From one burst to the next.
        gap: Distribution,
        /// Arrivals in one burst.
        burst: u32,
    },
}

impl Load {
    /// What passes from one piece of work to the next: think time, or the gap between bursts.
    pub(crate) fn pause(&self) -> &Distribution {
        match self {
            Self::Closed { think } => think,
            Self::Open { gap, .. } => gap,
        }
    }
}

/// A log that a commit waits for once the first has it. Durations in nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct SecondLog {
    /// CPU time of one flush, spent by whoever flushes.
    pub flush_cpu_ns: u64,
    /// Time of its device for one flush, whatever its volume.
    pub device: Distribution,
    /// Whether it lies on a device of its own. Both on one device flush one after the other.
    pub own_device: bool,
    /// How much of a flush's time passes once the device is done, until its process is there. On one device for both
    /// logs the other's flush, if it waits, has begun by then.
    pub late_ns: u64,
    /// Those whom one flush of the first log served wait for this one as one group, and who led there goes on
    /// for all. Without it each goes on by himself.
    pub in_groups: bool,
    /// How long a leader sleeps before its flush.
    pub pause_ns: u64,
    /// Commits that end that sleep early, the leader's with them; 0: none do.
    pub enough: u32,
}

/// Sessions, CPUs and one or two logs. Durations in nanoseconds, volumes in bytes.
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    /// Sessions: those that loop, or the pool that arrivals take one from.
    pub sessions: u32,
    /// Where work comes from.
    pub load: Load,

    /// Effective CPUs. What is not whole slows all of them: 1.9 are two at 0.95 of their speed.
    pub cpus: f64,
    /// How long one keeps a CPU while others wait for it; then it goes to the end of the queue.
    pub quantum_ns: u64,

    /// Rows changed per transaction.
    pub rows: u32,
    /// CPU time per row: constant, exponential or gamma.
    pub row_cpu: Distribution,
    /// CPU time per transaction beside its rows.
    pub commit_cpu: Distribution,
    /// Further CPU time per transaction for each other session that is on a CPU or waits for one
    /// when it begins.
    pub contention_ns: f64,
    /// Log per row.
    pub row_bytes: f64,
    /// Log per transaction beside its rows.
    pub commit_bytes: f64,

    /// CPU time of one flush, spent by whoever flushes.
    pub flush_cpu_ns: u64,
    /// Time of the device for one flush.
    pub device: Distribution,
    /// How much of a flush's device time, at most half, is for the write that comes before the flush proper.
    /// Between the two its process needs a CPU, for a fifth of `flush_cpu_ns`. 0: they are one.
    pub device_write_ns: u64,
    /// A flush's device time is kept from its beginning on, whatever comes between: as by a device that
    /// an emulator makes slower.
    pub device_paced: bool,
    /// The CPU that the device tells that it is done, as one with a single queue does: if that CPU idles,
    /// who waited goes there. Without one, and where all CPUs have the same queue, he goes where any other
    /// goes who is woken up.
    pub device_cpu: Option<u32>,
    /// CPU time that it takes a CPU to be told that the device is done, at the cost of who is there; of a short
    /// wait at most two thirds. While the CPU idles that is in the device's time.
    pub interrupt_ns: u64,
    /// Further time of the device per byte flushed.
    pub device_ns_per_byte: f64,
    /// Further time of the device once it has idled: how long it did, and how much more, from the shortest to
    /// the longest. Linear between them, outside of them as at the nearest.
    pub device_after_idle_ns: Vec<(u64, u64)>,
    /// CPU time to go to sleep when the log is somebody else's, and to wake up after that.
    pub wake_ns: u64,
    /// CPU time to wake another up, spent by whoever releases the log.
    pub post_ns: u64,
    /// Further CPU time of who finds, woken up, that the log is where he needs it.
    pub served_ns: u64,
    /// From waking a process to its running on a CPU that idles; the CPU is busy meanwhile. Not after
    /// a flush of its own: there the device's time has it, which is so much shorter where
    /// `device_cpu` is busy.
    pub idle_exit_ns: u64,
    /// The same where the CPU has idled so long that it is halted.
    pub halt_exit_ns: u64,
    /// How long a CPU idles before it is halted.
    pub halt_after_ns: u64,
    /// Further CPU time of a transaction whose session has waited for the device, or was woken up on a CPU
    /// that idled, since its last: caches are cold.
    pub cold_ns: u64,
    /// Whether each CPU has a queue of its own, as schedulers have it.
    pub own_queues: bool,
    /// While less than this share of the CPUs' time is used, 0 to 1, who is woken up while his last CPU is
    /// busy goes to one that idles and is not halted. Use is known from the looks every `balance_ns`.
    pub spread_below: f64,
    /// While less than this share of it is used, 0 to 1, a server whose last CPU idles comes to its client's
    /// CPU.
    pub fetch_below: f64,
    /// How often a CPU that idles looks whether somebody waits elsewhere; 0 for never.
    pub balance_ns: u64,
    /// Statements that a client sends per transaction, the commit as the last of them; long
    /// transactions are cut into no more than 240. 0 where the loop runs inside the server.
    pub statements: u32,
    /// Threads of the client, among which the sessions are dealt out: each works for one session after
    /// the other, in the order of the server's answers.
    pub client_threads: u32,
    /// CPU time of the client per statement. A transaction that comes from a timer costs as much once more.
    pub client_ns: u64,
    /// More where its thread has slept.
    pub client_wake_ns: u64,
    /// From a statement's or an answer's being sent to the other side's running on a CPU that idles.
    pub hand_over_exit_ns: u64,
    /// One flush serves every commit that waits; without it, one.
    pub group_commit: bool,
    /// Who releases a log wakes those whom he served, and one more who has it next. Without it he wakes all who
    /// wait, and they compete for it.
    pub handed_on: bool,
    /// Another log, for which a commit waits after the first; what is said of the log holds for both.
    pub second: Option<SecondLog>,
    /// How long a leader sleeps before its flush.
    pub commit_delay_ns: u64,
    /// It does so when at least so many other transactions are under way.
    pub commit_siblings: u32,

    /// Commits do not wait for the log.
    pub asynchronous: bool,
    /// The log writer flushes what there is so long after its last flush; 0 for none.
    pub writer_interval_ns: u64,
    /// It also does so when so much waits to be flushed; 0 for never. Asynchronous commits only.
    pub writer_bytes: u64,
}

impl Parameters {
    /// `sessions` sessions that think no time and use no CPU, one CPU, a log that takes no time.
    #[must_use]
    pub fn new(sessions: u32) -> Self {
        Self {
            sessions,
            load: Load::Closed { think: Distribution::ZERO },
            cpus: 1.0,
            quantum_ns: 3_000_000,
            rows: 1,
            row_cpu: Distribution::ZERO,
            commit_cpu: Distribution::ZERO,
            contention_ns: 0.0,
            row_bytes: 0.0,
            commit_bytes: 1.0,
            flush_cpu_ns: 0,
            device: Distribution::ZERO,
            device_write_ns: 0,
            device_paced: false,
            device_cpu: None,
            interrupt_ns: 0,
            device_ns_per_byte: 0.0,
            device_after_idle_ns: Vec::new(),
            wake_ns: 0,
            post_ns: 0,
            served_ns: 0,
            idle_exit_ns: 0,
            halt_exit_ns: 0,
            halt_after_ns: 0,
            cold_ns: 0,
            own_queues: false,
            spread_below: 0.0,
            fetch_below: 0.0,
            balance_ns: 0,
            statements: 0,
            client_threads: 1,
            client_ns: 0,
            client_wake_ns: 0,
            hand_over_exit_ns: 0,
            group_commit: true,
            handed_on: false,
            second: None,
            commit_delay_ns: 0,
            commit_siblings: 5,
            asynchronous: false,
            writer_interval_ns: 0,
            writer_bytes: 0,
        }
    }

    /// Check that this can be simulated.
    ///
    /// # Errors
    /// The first thing that cannot be, with its name.
    pub fn check(&self) -> Result<(), Invalid> {
        let wrong = |what: &str| Err(Invalid(what.to_owned()));
        self.row_cpu.check("CPU time per row")?;
        self.row_cpu.sum_of(self.rows)?;
        self.commit_cpu.check("CPU time per commit")?;
        self.device.check("device time")?;
        if let Some(second) = &self.second {
            second.device.check("device time of the second log")?;
        }
        let pause = match &self.load {
            Load::Closed { think } => {
                think.check("think time")?;
                think.mean_ns()
            }
            Load::Open { gap, burst } => {
                gap.check("gap between arrivals")?;
                if *burst == 0 || gap.mean_ns() <= 0.0 {
                    return wrong("arrivals need a burst of at least one and a gap above 0");
                }
                gap.mean_ns()
            }
        };
        if !(1..=MOST_SESSIONS).contains(&self.sessions) {
            return wrong("sessions: there must be between 1 and 100,000");
        }
        if !(LEAST_CPUS..=10_000.0).contains(&self.cpus) {
            return wrong("CPUs: there must be at least 0.001 and at most 10,000");
        }
        if self.quantum_ns == 0 {
            return wrong("the quantum must be above 0");
        }
        if !(1..=MOST_THREADS).contains(&self.client_threads) {
            return wrong("client threads: there must be between 1 and 1,000");
        }
        if self.device_cpu.is_some_and(|cpu| f64::from(cpu) >= self.cpus) {
            return wrong("the device cannot tell a CPU that there is not");
        }
        for (what, share) in [("spread", self.spread_below), ("fetch", self.fetch_below)] {
            if !(0.0..=1.0).contains(&share) {
                return Err(Invalid(format!(
                    "the share of the CPUs below which processes {what} must be between 0 and 1"
                )));
            }
        }
        let idled = &self.device_after_idle_ns;
        if idled.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
            return wrong("the times that a device idled must rise");
        }
        for (name, value) in [
            ("the log writer's interval", self.writer_interval_ns),
            ("the interval at which CPUs balance", self.balance_ns),
        ] {
            if (1..SHORTEST_INTERVAL_NS).contains(&value) {
                return Err(Invalid(format!(
                    "{name}: {value} ns is neither 0 nor at least a microsecond"
                )));
            }
        }
        for (name, value) in [
            ("contention", self.contention_ns),
            ("log per row", self.row_bytes),
            ("log per commit", self.commit_bytes),
            ("device time per byte", self.device_ns_per_byte),
        ] {
            if !(0.0..=1e12).contains(&value) {
                return Err(Invalid(format!("{name}: {value} is not 0 or more (at most 1e12)")));
            }
        }
        let log = self.commit_bytes + f64::from(self.rows) * self.row_bytes;
        if log < 1.0 {
            return wrong("a transaction must write at least one byte of log");
        }
        if log > 1e12 {
            return wrong("a transaction cannot write more than 1e12 bytes of log");
        }
        let cpu = self.commit_cpu.mean_ns() + f64::from(self.rows) * self.row_cpu.mean_ns();
        let flush = if self.asynchronous { 0.0 } else { self.device.mean_ns() };
        if pause + cpu + flush <= 0.0 {
            return wrong("a transaction must take some time: think, CPU or device");
        }
        Ok(())
    }
}

/// How much is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Commits before anything is counted.
    pub warm_up: u64,
    /// Stretches that are counted, one after the other.
    pub batches: u32,
    /// Commits in each.
    pub commits_per_batch: u64,
}
