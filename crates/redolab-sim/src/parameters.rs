//! The parameters of a simulation, their limits, and the plan of how much is simulated.

use crate::distribution::{Distribution, Invalid};
use crate::events::MOST;
use crate::record;
use crate::record::{Target, Write};
use crate::span::Span;

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

record! {
    /// A log that a commit waits for once the first has it. Durations in seconds.
    #[derive(Debug, Clone, PartialEq)]
    pub struct SecondLog {
        /// CPU time of one flush, spent by whoever flushes.
        pub flush_cpu_s: Span = Span::default(),
        /// Time of its device for one flush, whatever its volume.
        pub device: Distribution = Distribution::NOTHING,
        /// Whether it lies on a device of its own. Both on one device flush one after the other.
        pub own_device: bool = false,
        /// How much of a flush's time passes once the device is done, until its process is there. On one device for both
        /// logs the other's flush, if it waits, has begun by then.
        pub late_s: Span = Span::default(),
        /// Those whom one flush of the first log served wait for this one as one group, and who led there goes on
        /// for all. Without it each goes on by himself.
        pub in_groups: bool = false,
        /// How long a leader sleeps before its flush.
        pub pause_s: Span = Span::default(),
        /// Commits that end that sleep early, the leader's with them; 0: none do.
        pub enough: u32 = 0,
    }
}

record! {
    /// Sessions, CPUs and one or two logs. Durations in seconds, volumes in bytes.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Parameters {
        /// Sessions: those that loop, or the pool that arrivals take one from.
        pub sessions: u32 = 1,
        /// Where work comes from.
        pub load: Load = Load::Closed { think: Distribution::NOTHING },

        /// Effective CPUs. What is not whole slows all of them: 1.9 are two at 0.95 of their speed.
        pub cpus: f64 = 1.0,
        /// How long one keeps a CPU while others wait for it; then it goes to the end of the queue.
        pub quantum_s: Span = Span::from(3e-3),

        /// Rows changed per transaction.
        pub rows: u32 = 1,
        /// CPU time per row: constant, exponential or gamma.
        pub row_cpu: Distribution = Distribution::NOTHING,
        /// CPU time per transaction beside its rows.
        pub commit_cpu: Distribution = Distribution::NOTHING,
        /// Further CPU time per transaction for each other session that is on a CPU or waits for one
        /// when it begins.
        pub contention_s: f64 = 0.0,
        /// Log per row.
        pub row_bytes: f64 = 0.0,
        /// Log per transaction beside its rows.
        pub commit_bytes: f64 = 1.0,

        /// CPU time of one flush, spent by whoever flushes.
        pub flush_cpu_s: Span = Span::default(),
        /// Time of the device for one flush.
        pub device: Distribution = Distribution::NOTHING,
        /// How much of a flush's device time, at most half, is for the write that comes before the flush proper.
        /// Between the two its process needs a CPU, for a fifth of `flush_cpu_s`. 0: they are one.
        pub device_write_s: Span = Span::default(),
        /// A flush's device time is kept from its beginning on, whatever comes between: as by a device that
        /// an emulator makes slower.
        pub device_paced: bool = false,
        /// The CPU that the device tells that it is done, as one with a single queue does: if that CPU idles,
        /// who waited goes there. Without one, and where all CPUs have the same queue, he goes where any other
        /// goes who is woken up.
        pub device_cpu: Option<u32> = None,
        /// CPU time that it takes a CPU to be told that the device is done, at the cost of who is there; of a short
        /// wait at most two thirds. While the CPU idles that is in the device's time.
        pub interrupt_s: Span = Span::default(),
        /// Further time of the device per byte flushed.
        pub device_s_per_byte: f64 = 0.0,
        /// Further time of the device once it has idled: how long it did, and how much more, from the shortest to
        /// the longest. Linear between them, outside of them as at the nearest.
        pub device_after_idle_s: Vec<(Span, Span)> = Vec::new(),
        /// CPU time to go to sleep when the log is somebody else's, and to wake up after that.
        pub wake_s: Span = Span::default(),
        /// CPU time to wake another up, spent by whoever releases the log.
        pub post_s: Span = Span::default(),
        /// Further CPU time of who finds, woken up, that the log is where he needs it.
        pub served_s: Span = Span::default(),
        /// From waking a process to its running on a CPU that idles; the CPU is busy meanwhile. Not after
        /// a flush of its own: there the device's time has it, which is so much shorter where
        /// `device_cpu` is busy.
        pub idle_exit_s: Span = Span::default(),
        /// The same where the CPU has idled so long that it is halted.
        pub halt_exit_s: Span = Span::default(),
        /// How long a CPU idles before it is halted.
        pub halt_after_s: Span = Span::default(),
        /// Further CPU time of a transaction whose session has waited for the device, or was woken up on a CPU
        /// that idled, since its last: caches are cold.
        pub cold_s: Span = Span::default(),
        /// Whether each CPU has a queue of its own, as schedulers have it.
        pub own_queues: bool = false,
        /// While less than this share of the CPUs' time is used, 0 to 1, who is woken up while his last CPU is
        /// busy goes to one that idles and is not halted. Use is known from the looks every `balance_s`.
        pub spread_below: f64 = 0.0,
        /// While less than this share of it is used, 0 to 1, a server whose last CPU idles comes to its client's
        /// CPU.
        pub fetch_below: f64 = 0.0,
        /// How often a CPU that idles looks whether somebody waits elsewhere; 0 for never.
        pub balance_s: Span = Span::default(),
        /// Statements that a client sends per transaction, the commit as the last of them; long
        /// transactions are cut into no more than 240. 0 where the loop runs inside the server.
        pub statements: u32 = 0,
        /// Threads of the client, among which the sessions are dealt out: each works for one session after
        /// the other, in the order of the server's answers.
        pub client_threads: u32 = 1,
        /// CPU time of the client per statement. A transaction that comes from a timer costs as much once more.
        pub client_s: Span = Span::default(),
        /// More where its thread has slept.
        pub client_wake_s: Span = Span::default(),
        /// From a statement's or an answer's being sent to the other side's running on a CPU that idles.
        pub hand_over_exit_s: Span = Span::default(),
        /// One flush serves every commit that waits; without it, one.
        pub group_commit: bool = true,
        /// Who releases a log wakes those whom he served, and one more who has it next. Without it he wakes all who
        /// wait, and they compete for it.
        pub handed_on: bool = false,
        /// Another log, for which a commit waits after the first; what is said of the log holds for both.
        pub second: Option<SecondLog> = None,
        /// How long a leader sleeps before its flush.
        pub commit_delay_s: Span = Span::default(),
        /// It does so when at least so many other transactions are under way.
        pub commit_siblings: u32 = 5,

        /// Commits do not wait for the log.
        pub asynchronous: bool = false,
        /// The log writer flushes what there is so long after its last flush; 0 for none.
        pub writer_interval_s: Span = Span::default(),
        /// It also does so when so much waits to be flushed; 0 for never. Asynchronous commits only.
        pub writer_bytes: u32 = 0,
    }
}

impl Parameters {
    /// `sessions` sessions that think no time and use no CPU, one CPU, a log that takes no time.
    #[must_use]
    pub fn new(sessions: u32) -> Self {
        Self { sessions, ..Self::default() }
    }

    /// Check that this can be simulated.
    ///
    /// # Errors
    /// The first thing that cannot be, with its name.
    pub fn check(&self) -> Result<(), Invalid> {
        self.write(&mut Limits)?;
        let wrong = |what: &str| Err(Invalid(what.to_owned()));
        self.row_cpu.check("CPU time per row")?;
        self.row_cpu.sum_of(self.rows)?;
        self.commit_cpu.check("CPU time per commit")?;
        self.device.check("device time")?;
        if let Some(second) = &self.second {
            second.flush_cpu_s.check("flush_cpu_s of the second log")?;
            second.late_s.check("late_s")?;
            second.pause_s.check("pause_s")?;
            second.device.check("device time of the second log")?;
        }
        let pause = match &self.load {
            Load::Closed { think } => {
                think.check("think time")?;
                think.mean()
            }
            Load::Open { gap, burst } => {
                gap.check("gap between arrivals")?;
                if *burst == 0 || gap.mean() <= 0.0 {
                    return wrong("arrivals need a burst of at least one and a gap above 0");
                }
                gap.mean()
            }
        };
        if !(1..=MOST_SESSIONS).contains(&self.sessions) {
            return wrong("sessions: there must be between 1 and 100,000");
        }
        if !(LEAST_CPUS..=10_000.0).contains(&self.cpus) {
            return wrong("CPUs: there must be at least 0.001 and at most 10,000");
        }
        if self.quantum_s.ns() == 0 {
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
        let idled = &self.device_after_idle_s;
        if idled.windows(2).any(|pair| pair[0].0.ns() >= pair[1].0.ns()) {
            return wrong("the times that a device idled must rise");
        }
        for (name, value) in [
            ("the log writer's interval", self.writer_interval_s.ns()),
            ("the interval at which CPUs balance", self.balance_s.ns()),
        ] {
            if (1..SHORTEST_INTERVAL_NS).contains(&value) {
                return Err(Invalid(format!(
                    "{name}: {value} ns is neither 0 nor at least a microsecond"
                )));
            }
        }
        for (name, value) in [
            ("contention", self.contention_s * 1e9),
            ("log per row", self.row_bytes),
            ("log per commit", self.commit_bytes),
            ("device time per byte", self.device_s_per_byte * 1e9),
        ] {
            if !(0.0..=1e12).contains(&value) {
                return Err(Invalid(format!("{name}: {value} is not 0 or more (at most 1e12)")));
            }
        }
        let log = self.transaction_bytes();
        if log < 1.0 {
            return wrong("a transaction must write at least one byte of log");
        }
        if log > 1e12 {
            return wrong("a transaction cannot write more than 1e12 bytes of log");
        }
        let cpu = self.commit_cpu.mean() + f64::from(self.rows) * self.row_cpu.mean();
        let flush = if self.asynchronous { 0.0 } else { self.device.mean() };
        if pause + cpu + flush <= 0.0 {
            return wrong("a transaction must take some time: think, CPU or device");
        }
        Ok(())
    }
    /// Mean CPU time of a transaction before its commit, without contention, in server and client, in seconds.
    ///
    /// With a CPU for each session, caches are cold after a flush and a client's thread sleeps after each
    /// statement. Both sides' CPUs idle when they are handed one. What all that takes counts too.
    #[must_use]
    pub fn transaction_cpu_s(&self) -> f64 {
        let (mut statement_s, mut cold_s) = (self.client_s.s(), 0.0);
        if f64::from(self.sessions) <= self.cpus {
            statement_s += self.client_wake_s.s() + 2.0 * self.hand_over_exit_s.s();
            cold_s = if self.asynchronous { 0.0 } else { self.cold_s.s() };
        }
        self.commit_cpu.mean()
            + f64::from(self.rows) * self.row_cpu.mean()
            + cold_s
            + f64::from(self.statements) * statement_s
    }

    /// Log per transaction, in bytes.
    #[must_use]
    pub fn transaction_bytes(&self) -> f64 {
        self.commit_bytes + f64::from(self.rows) * self.row_bytes
    }
}

/// Checks each duration of a record; other fields have limits of their own.
struct Limits;

impl Target for Limits {
    type Error = Invalid;
}

impl Write<Span> for Limits {
    fn write(&mut self, name: &'static str, value: &Span) -> Result<(), Invalid> {
        value.check(name)
    }
}

impl Write<Vec<(Span, Span)>> for Limits {
    fn write(&mut self, name: &'static str, value: &Vec<(Span, Span)>) -> Result<(), Invalid> {
        value.iter().try_for_each(|(idle, more)| idle.check(name).and_then(|()| more.check(name)))
    }
}

macro_rules! without_duration {
    ($($kind:ty),+) => {
        $(impl Write<$kind> for Limits {
            fn write(&mut self, _: &'static str, _: &$kind) -> Result<(), Invalid> {
                Ok(())
            }
        })+
    };
}

without_duration!(bool, u32, f64, Option<u32>, Distribution, Load, Option<SecondLog>);

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
