//! Means over the simulated stretch, each with its interval.

use redolab_sim::{Batch, Seen, Times};

use crate::refused::Refused;
use crate::statistics::ratio::{Interval, ratio_of_sums, with_scatter};
use redolab_sim::{Load, Parameters};

/// A duration, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Durations {
    /// Its mean.
    pub mean_s: Interval,
    /// Its median.
    pub p50_s: Interval,
    /// Its 95th percentile.
    pub p95_s: Interval,
    /// Its 99th percentile.
    pub p99_s: Interval,
}

/// The simulated steady state. Its intervals say how well the simulation knows itself, and nothing of how true
/// the parameters are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteadyState {
    /// Commits per second.
    pub throughput_per_s: Interval,
    /// From the request to commit to its acknowledgement.
    pub commit_time: Durations,
    /// From the arrival, or the end of the think time, to the acknowledgement.
    pub response_time: Durations,
    /// Share of the CPUs' time that they are busy, 0 to 1.
    pub cpu_utilization: Interval,
    /// Share of the time that the log device is busy, 0 to 1; the mean of two where there are two.
    pub device_utilization: Interval,
    /// Of the first log; None where nothing was flushed.
    pub commits_per_flush: Option<Interval>,
    /// From the beginning of a flush of the first log to its release; None where nothing was flushed.
    pub flush_time_s: Option<Interval>,
    /// How often a commit waits for the log, in vain too.
    pub log_waits_per_commit: Interval,
    /// How often a thread of the client wakes up.
    pub client_wakes_per_commit: Interval,
    /// Mean number of sessions in each of the simulator's states (`redolab_sim::State`), in their order.
    pub sessions_by_state: [Interval; 7],
    /// Mean number of arrivals that have no session yet.
    pub backlog: Interval,
    /// Simulated time that counted, in seconds.
    pub elapsed_s: f64,
    /// Commits that counted.
    pub commits: u64,
    /// Events simulated, those of the warm-up too.
    pub events: u64,
}

impl SteadyState {
    /// The means of what was simulated with these parameters.
    ///
    /// # Errors
    /// The backlog of arrivals grew, or what was simulated took no time.
    pub fn of(parameters: &Parameters, seen: &Seen) -> Result<Self, Refused> {
        check_backlog(parameters, seen)?;
        Batches(&seen.batches).steady_state(parameters, seen).ok_or(Refused::NoTime)
    }
}

/// A queue without a drift wanders no further than some square roots of the number of arrivals.
fn check_backlog(parameters: &Parameters, seen: &Seen) -> Result<(), Refused> {
    let Load::Open { burst, .. } = parameters.load else { return Ok(()) };
    let arrived: u64 = seen.batches.iter().map(|batch| batch.arrivals).sum();
    if float(seen.backlog) > 3.0 * f64::from(burst) * float(arrived).sqrt() {
        return Err(Refused::NoSteadyState(format!(
            "no steady state: of {arrived} units of work {} still had no session at the end. Ask for fewer \
             per second, or for more sessions",
            seen.backlog
        )));
    }
    Ok(())
}

struct Batches<'a>(&'a [Batch]);

impl Batches<'_> {
    fn steady_state(&self, parameters: &Parameters, seen: &Seen) -> Option<SteadyState> {
        let servers = parameters.cpus.ceil();
        let second = parameters.second.as_ref();
        let devices = if second.is_some_and(|second| second.own_device) { 2.0 } else { 1.0 };
        let mut sessions_by_state = [Interval { point: 0.0, low: 0.0, high: 0.0 }; 7];
        for (state, mean) in sessions_by_state.iter_mut().enumerate() {
            *mean = self.per_time(|batch| float(batch.state_ns[state]))?;
        }
        let flushed = self.0.iter().any(|batch| batch.flushes > 0);
        let per_flush = |above: fn(&Batch) -> f64| {
            if flushed { self.ratio(above, |batch| float(batch.flushes)) } else { None }
        };
        Some(SteadyState {
            throughput_per_s: self.per_time(|batch| float(batch.commits) * 1e9)?,
            commit_time: self.durations(seen.commit_time, |batch| batch.commit_time)?,
            response_time: self.durations(seen.response_time, |batch| batch.response_time)?,
            cpu_utilization: self.per_time(|batch| float(batch.cpu_busy_ns) / servers)?,
            device_utilization: self.per_time(|batch| float(batch.device_busy_ns) / devices)?,
            commits_per_flush: per_flush(|batch| float(batch.commits)),
            flush_time_s: per_flush(|batch| float(batch.flush_ns) / 1e9),
            log_waits_per_commit: self.per_commit(|batch| float(batch.log_waits))?,
            client_wakes_per_commit: self.per_commit(|batch| float(batch.client_wakes))?,
            sessions_by_state,
            backlog: self.per_time(|batch| float(batch.backlog_ns))?,
            elapsed_s: float(self.0.iter().map(|batch| batch.elapsed_ns).sum()) / 1e9,
            commits: self.0.iter().map(|batch| batch.commits).sum(),
            events: seen.events,
        })
    }

    fn ratio(
        &self,
        above: impl Fn(&Batch) -> f64,
        below: impl Fn(&Batch) -> f64,
    ) -> Option<Interval> {
        ratio_of_sums(&self.each(above), &self.each(below))
    }

    fn per_time(&self, above: impl Fn(&Batch) -> f64) -> Option<Interval> {
        self.ratio(above, |batch| float(batch.elapsed_ns))
    }

    fn per_commit(&self, above: impl Fn(&Batch) -> f64) -> Option<Interval> {
        self.ratio(above, |batch| float(batch.commits))
    }

    fn durations(&self, of_all: Times, of_batch: impl Fn(&Batch) -> Times) -> Option<Durations> {
        let percentile = |of: fn(&Times) -> u64| {
            with_scatter(seconds(of(&of_all)), &self.each(|batch| seconds(of(&of_batch(batch)))))
        };
        Some(Durations {
            mean_s: self.per_commit(|batch| seconds(of_batch(batch).sum_ns))?,
            p50_s: percentile(|times| times.p50_ns)?,
            p95_s: percentile(|times| times.p95_ns)?,
            p99_s: percentile(|times| times.p99_ns)?,
        })
    }

    fn each(&self, of_batch: impl Fn(&Batch) -> f64) -> Vec<f64> {
        self.0.iter().map(of_batch).collect()
    }
}

fn seconds(ns: u64) -> f64 {
    float(ns) / 1e9
}

#[expect(clippy::cast_precision_loss, reason = "exact below 2^53: 104 days of nanoseconds")]
fn float(count: u64) -> f64 {
    count as f64
}
