//! Counts what a simulation does: the time in each state, and its commits and flushes, by batches.

use crate::histogram::Histogram;

/// What a session is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Thinking, or without work.
    Idle,
    /// On a CPU.
    OnCpu,
    /// Ready, but waiting for a CPU.
    RunQueue,
    /// Waiting for a flush or a write of another.
    LogWait,
    /// Waiting for the device with a flush of its own.
    Device,
    /// Sleeping its commit delay.
    Delay,
    /// In its client, whose thread works for it or for others first.
    Client,
}

/// Number of states.
pub const STATES: usize = 7;

/// How many there are of something, and the time they have spent there.
#[derive(Debug, Clone, Copy, Default)]
pub struct Gauge {
    count: u32,
    /// Times of leaving less times of entering, modulo 2^64: the time spent, but for those still there.
    left: u64,
}

impl Gauge {
    pub fn enter(&mut self, now_ns: u64) {
        self.count += 1;
        self.left = self.left.wrapping_sub(now_ns);
    }

    pub fn leave(&mut self, now_ns: u64) {
        self.count -= 1;
        self.left = self.left.wrapping_add(now_ns);
    }

    pub fn count(&self) -> u32 {
        self.count
    }

    /// The time spent since 0, summed over all of them.
    fn area_ns(&self, now_ns: u64) -> u64 {
        // Who leaves has entered, so this is never below 0; two days of 10^5 sessions fit.
        self.left.wrapping_add(u64::from(self.count).wrapping_mul(now_ns))
    }
}

/// Durations of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Times {
    /// Their sum.
    pub sum_ns: u64,
    /// Half are at most so long.
    pub p50_ns: u64,
    /// 95 % are.
    pub p95_ns: u64,
    /// 99 % are.
    pub p99_ns: u64,
}

/// One stretch of the simulation. Sums are over all sessions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Batch {
    /// Its length.
    pub elapsed_ns: u64,
    /// Commits acknowledged.
    pub commits: u64,
    /// Units of work that arrived; in a closed load, transactions begun.
    pub arrivals: u64,
    /// Flushes of the first log, those of the log writer too.
    pub flushes: u64,
    /// Flushes of the second log.
    pub second_flushes: u64,
    /// Time from the beginning of flushes of the first log to its release.
    pub flush_ns: u64,
    /// How often somebody waited for a log, in vain too.
    pub log_waits: u64,
    /// How often a thread of the client woke up.
    pub client_wakes: u64,
    /// Time in each `State`, in its order.
    pub state_ns: [u64; STATES],
    /// Time that arrivals waited for a session.
    pub backlog_ns: u64,
    /// Time that CPUs were busy.
    pub cpu_busy_ns: u64,
    /// Time that the devices were busy.
    pub device_busy_ns: u64,
    /// From the request to commit to its acknowledgement.
    pub commit_time: Times,
    /// From the arrival, or the end of the think time, to the acknowledgement.
    pub response_time: Times,
}

/// Everything a simulation gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The stretches, in the order of time.
    pub batches: Vec<Batch>,
    /// All commit times.
    pub commit_time: Times,
    /// All response times.
    pub response_time: Times,
    /// All commit times: longest of a class of durations (0.1 % wide), and how many there were.
    pub commit_times: Vec<(u64, u64)>,
    /// All response times, in the same way.
    pub response_times: Vec<(u64, u64)>,
    /// Events simulated, those of the warm-up too.
    pub events: u64,
    /// Arrivals that had no session yet at the end.
    pub backlog: u64,
}

/// Durations being collected, of this batch and of all before it.
#[derive(Debug, Default)]
struct Collected {
    sum_ns: u64,
    batch: Histogram,
    all_sum_ns: u64,
    all: Histogram,
}

impl Collected {
    fn record(&mut self, ns: u64) {
        self.sum_ns += ns;
        self.batch.record(ns);
    }

    fn close(&mut self) -> Times {
        let times = times(self.sum_ns, &self.batch);
        self.all_sum_ns += self.sum_ns;
        self.all.add(&self.batch);
        self.forget();
        times
    }

    fn forget(&mut self) {
        self.sum_ns = 0;
        self.batch.clear();
    }
}

fn times(sum_ns: u64, histogram: &Histogram) -> Times {
    let [p50_ns, p95_ns, p99_ns] = histogram.quantiles([0.50, 0.95, 0.99]);
    Times { sum_ns, p50_ns, p95_ns, p99_ns }
}

/// Totals since the beginning, of which a batch is a difference.
#[derive(Debug, Clone, Copy, Default)]
struct Totals {
    now_ns: u64,
    arrivals: u64,
    flushes: [u64; 2],
    flush_ns: u64,
    log_waits: u64,
    client_wakes: u64,
    state_ns: [u64; STATES],
    backlog_ns: u64,
    cpu_busy_ns: u64,
    device_busy_ns: u64,
}

/// The books of a simulation.
#[derive(Debug)]
pub struct Tally {
    pub states: [Gauge; STATES],
    pub backlog: Gauge,
    pub cpu_busy: Gauge,
    pub device_busy: Gauge,
    pub arrivals: u64,
    /// Of each log.
    pub flushes: [u64; 2],
    pub flush_ns: u64,
    pub log_waits: u64,
    pub client_wakes: u64,
    commits: u64,
    commit_time: Collected,
    response_time: Collected,
    begun: Totals,
    batches: Vec<Batch>,
}

impl Tally {
    pub fn new(sessions: u32) -> Self {
        let mut states = [Gauge::default(); STATES];
        for _ in 0..sessions {
            states[State::Idle as usize].enter(0);
        }
        Self {
            states,
            backlog: Gauge::default(),
            cpu_busy: Gauge::default(),
            device_busy: Gauge::default(),
            arrivals: 0,
            flushes: [0; 2],
            flush_ns: 0,
            log_waits: 0,
            client_wakes: 0,
            commits: 0,
            commit_time: Collected::default(),
            response_time: Collected::default(),
            begun: Totals::default(),
            batches: Vec::new(),
        }
    }

    /// A commit is acknowledged. Returns the commits of this batch so far.
    pub fn committed(&mut self, commit_time_ns: u64, response_time_ns: u64) -> u64 {
        self.commits += 1;
        self.commit_time.record(commit_time_ns);
        self.response_time.record(response_time_ns);
        self.commits
    }

    /// Forget the warm-up.
    pub fn begin(&mut self, now_ns: u64) {
        self.begun = self.totals(now_ns);
        self.commits = 0;
        self.commit_time.forget();
        self.response_time.forget();
    }

    /// End a batch and begin the next. Returns how many there are.
    pub fn close_batch(&mut self, now_ns: u64) -> usize {
        let (from, to) = (self.begun, self.totals(now_ns));
        let mut state_ns = to.state_ns;
        for (spent, before) in state_ns.iter_mut().zip(from.state_ns) {
            *spent -= before;
        }
        self.batches.push(Batch {
            elapsed_ns: to.now_ns - from.now_ns,
            commits: self.commits,
            arrivals: to.arrivals - from.arrivals,
            flushes: to.flushes[0] - from.flushes[0],
            second_flushes: to.flushes[1] - from.flushes[1],
            flush_ns: to.flush_ns - from.flush_ns,
            log_waits: to.log_waits - from.log_waits,
            client_wakes: to.client_wakes - from.client_wakes,
            state_ns,
            backlog_ns: to.backlog_ns - from.backlog_ns,
            cpu_busy_ns: to.cpu_busy_ns - from.cpu_busy_ns,
            device_busy_ns: to.device_busy_ns - from.device_busy_ns,
            commit_time: self.commit_time.close(),
            response_time: self.response_time.close(),
        });
        self.begun = to;
        self.commits = 0;
        self.batches.len()
    }

    pub fn finish(self, events: u64, backlog: u64) -> Seen {
        Seen {
            batches: self.batches,
            commit_time: times(self.commit_time.all_sum_ns, &self.commit_time.all),
            response_time: times(self.response_time.all_sum_ns, &self.response_time.all),
            commit_times: self.commit_time.all.classes().collect(),
            response_times: self.response_time.all.classes().collect(),
            events,
            backlog,
        }
    }

    fn totals(&self, now_ns: u64) -> Totals {
        Totals {
            now_ns,
            arrivals: self.arrivals,
            flushes: self.flushes,
            flush_ns: self.flush_ns,
            log_waits: self.log_waits,
            client_wakes: self.client_wakes,
            state_ns: self.states.map(|gauge| gauge.area_ns(now_ns)),
            backlog_ns: self.backlog.area_ns(now_ns),
            cpu_busy_ns: self.cpu_busy.area_ns(now_ns),
            device_busy_ns: self.device_busy.area_ns(now_ns),
        }
    }
}
