//! The group-commit simulator, as Python sees it.

use std::time::{Duration, Instant};

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use redolab_sim::{
    Distribution, Invalid, Load, MOST_EVENTS, Parameters, Plan, Stopped, simulate_while,
};

/// `redolab.model.distribution.Distribution`.
#[derive(FromPyObject)]
struct Described {
    shape: String,
    values: Vec<f64>,
}

impl Described {
    fn distribution(&self) -> PyResult<Distribution> {
        Ok(match (self.shape.as_str(), self.values.as_slice()) {
            ("constant", &[mean]) => Distribution::Constant { mean_ns: mean * 1e9 },
            ("exponential", &[mean]) => Distribution::Exponential { mean_ns: mean * 1e9 },
            ("gamma", &[mean, cv]) => Distribution::Gamma { mean_ns: mean * 1e9, cv },
            ("lognormal", &[mean, cv]) => Distribution::Lognormal { mean_ns: mean * 1e9, cv },
            ("two_valued", &[usual, rare, rare_share]) => {
                Distribution::TwoValued { usual_ns: usual * 1e9, rare_ns: rare * 1e9, rare_share }
            }
            ("quantiles", values) => Distribution::Quantiles {
                values_ns: values.iter().map(|value| value * 1e9).collect(),
            },
            (shape, values) => {
                let count = values.len();
                return Err(PyValueError::new_err(format!(
                    "there is no distribution {shape:?} of {count} values"
                )));
            }
        })
    }
}

/// `redolab.model.group_commit.Arrivals`.
#[derive(FromPyObject)]
struct Arrivals {
    gap: Described,
    burst: u32,
}

/// `redolab.model.group_commit.GroupCommitParameters`.
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
#[derive(FromPyObject)]
pub struct GroupCommitParameters {
    sessions: u32,
    think: Described,
    arrivals: Option<Arrivals>,
    cpus: f64,
    quantum_s: f64,
    rows: u32,
    row_cpu: Described,
    commit_cpu: Described,
    contention_s: f64,
    row_bytes: f64,
    commit_bytes: f64,
    flush_cpu_s: f64,
    device: Described,
    device_s_per_byte: f64,
    device_after_idle_s: Vec<(f64, f64)>,
    wake_s: f64,
    post_s: f64,
    served_s: f64,
    idle_exit_s: f64,
    halt_exit_s: f64,
    halt_after_s: f64,
    cold_s: f64,
    device_write_s: f64,
    device_paced: bool,
    device_cpu: Option<u32>,
    interrupt_s: f64,
    spread_below: f64,
    fetch_below: f64,
    hand_over_exit_s: f64,
    own_queues: bool,
    balance_s: f64,
    statements: u32,
    client_threads: u32,
    client_s: f64,
    client_wake_s: f64,
    group_commit: bool,
    commit_delay_s: f64,
    commit_siblings: u32,
    asynchronous: bool,
    writer_interval_s: f64,
    writer_bytes: u64,
}

impl GroupCommitParameters {
    fn parameters(&self) -> PyResult<Parameters> {
        let load = match &self.arrivals {
            None => Load::Closed { think: self.think.distribution()? },
            Some(Arrivals { gap, burst }) => Load::Open { gap: gap.distribution()?, burst: *burst },
        };
        Ok(Parameters {
            sessions: self.sessions,
            load,
            cpus: self.cpus,
            quantum_ns: nanoseconds("quantum_s", self.quantum_s)?,
            rows: self.rows,
            row_cpu: self.row_cpu.distribution()?,
            commit_cpu: self.commit_cpu.distribution()?,
            contention_ns: self.contention_s * 1e9,
            row_bytes: self.row_bytes,
            commit_bytes: self.commit_bytes,
            flush_cpu_ns: nanoseconds("flush_cpu_s", self.flush_cpu_s)?,
            device: self.device.distribution()?,
            device_ns_per_byte: self.device_s_per_byte * 1e9,
            device_after_idle_ns: self.after_idle_ns()?,
            wake_ns: nanoseconds("wake_s", self.wake_s)?,
            post_ns: nanoseconds("post_s", self.post_s)?,
            served_ns: nanoseconds("served_s", self.served_s)?,
            idle_exit_ns: nanoseconds("idle_exit_s", self.idle_exit_s)?,
            halt_exit_ns: nanoseconds("halt_exit_s", self.halt_exit_s)?,
            halt_after_ns: nanoseconds("halt_after_s", self.halt_after_s)?,
            cold_ns: nanoseconds("cold_s", self.cold_s)?,
            device_write_ns: nanoseconds("device_write_s", self.device_write_s)?,
            device_paced: self.device_paced,
            device_cpu: self.device_cpu,
            interrupt_ns: nanoseconds("interrupt_s", self.interrupt_s)?,
            spread_below: self.spread_below,
            fetch_below: self.fetch_below,
            hand_over_exit_ns: nanoseconds("hand_over_exit_s", self.hand_over_exit_s)?,
            own_queues: self.own_queues,
            balance_ns: nanoseconds("balance_s", self.balance_s)?,
            statements: self.statements,
            client_threads: self.client_threads,
            client_ns: nanoseconds("client_s", self.client_s)?,
            client_wake_ns: nanoseconds("client_wake_s", self.client_wake_s)?,
            group_commit: self.group_commit,
            commit_delay_ns: nanoseconds("commit_delay_s", self.commit_delay_s)?,
            commit_siblings: self.commit_siblings,
            asynchronous: self.asynchronous,
            writer_interval_ns: nanoseconds("writer_interval_s", self.writer_interval_s)?,
            writer_bytes: self.writer_bytes,
        })
    }

    fn after_idle_ns(&self) -> PyResult<Vec<(u64, u64)>> {
        let whole = |seconds| nanoseconds("device_after_idle_s", seconds);
        self.device_after_idle_s
            .iter()
            .map(|&(idle, more)| Ok((whole(idle)?, whole(more)?)))
            .collect()
    }
}

/// Whole nanoseconds of a duration from 0 to an hour.
#[expect(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "checked to fit")]
fn nanoseconds(name: &str, seconds: f64) -> PyResult<u64> {
    if (0.0..=3600.0).contains(&seconds) {
        Ok((seconds * 1e9).round() as u64)
    } else {
        Err(PyValueError::new_err(format!("{name}: {seconds} s is not between 0 and an hour")))
    }
}

create_exception!(
    redolab._core,
    SimulationTooLongError,
    PyValueError,
    "The simulation did not come to its end within its number of events."
);

/// How often Python hears of signals while something is simulated.
const HEARING: Duration = Duration::from_millis(100);

/// What came of the handlers of signals, which only run when Python has a turn.
struct Signals {
    heard: Instant,
    raised: Option<PyErr>,
}

impl Signals {
    /// Let the handlers run now and then; false once one of them has raised something.
    fn are_quiet(&mut self) -> bool {
        if self.heard.elapsed() >= HEARING {
            self.raised = Python::attach(|py| -> PyResult<()> { py.check_signals() }).err();
            self.heard = Instant::now();
        }
        self.raised.is_none()
    }
}

fn ended(stopped: Stopped) -> PyErr {
    match stopped {
        Stopped::Invalid(invalid) => refused(invalid),
        Stopped::TooLong(_) | Stopped::Unwanted => {
            SimulationTooLongError::new_err(stopped.to_string())
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the form that map_err wants")]
fn refused(invalid: Invalid) -> PyErr {
    PyValueError::new_err(invalid.to_string())
}

/// Of durations: sum, median, 95th and 99th percentile, in nanoseconds.
type Times = (u64, u64, u64, u64);

/// One stretch of a simulation; sums are over all sessions.
#[pyclass(frozen, get_all, module = "redolab._core")]
pub struct SimulatedBatch {
    /// Its length.
    elapsed_ns: u64,
    /// Commits acknowledged.
    commits: u64,
    /// Units of work that arrived; in a closed load, transactions begun.
    arrivals: u64,
    /// Flushes done, those of the log writer too.
    flushes: u64,
    /// Time from the beginning of flushes to the release of the log.
    flush_ns: u64,
    /// How often somebody waited for the log, in vain too.
    log_waits: u64,
    /// How often a thread of the client woke up.
    client_wakes: u64,
    /// Thinking, or without work.
    idle_ns: u64,
    /// On a CPU.
    on_cpu_ns: u64,
    /// Ready, but waiting for a CPU.
    run_queue_ns: u64,
    /// Waiting for a flush or a write of another.
    log_wait_ns: u64,
    /// Waiting for the device with a flush of its own.
    device_ns: u64,
    /// Sleeping its commit delay.
    delay_ns: u64,
    /// In its client, whose thread works for it or for others first.
    client_ns: u64,
    /// Time that arrivals waited for a session.
    backlog_ns: u64,
    /// Time that CPUs were busy.
    cpu_busy_ns: u64,
    /// Time that the device was busy.
    device_busy_ns: u64,
    /// From the request to commit to its acknowledgement: sum, median, 95th and 99th percentile.
    commit_time: Times,
    /// From the arrival, or the end of the think time, to the acknowledgement, in the same way.
    response_time: Times,
}

/// What a simulation gives.
#[pyclass(frozen, get_all, module = "redolab._core")]
pub struct Simulated {
    /// The stretches, in the order of time.
    batches: Py<PyTuple>,
    /// All commit times: sum, median, 95th and 99th percentile.
    commit_time: Times,
    /// All response times, in the same way.
    response_time: Times,
    /// All commit times: longest of a class of durations (ns), and how many there were.
    commit_times: Vec<(u64, u64)>,
    /// All response times, in the same way.
    response_times: Vec<(u64, u64)>,
    /// Events simulated, those of the warm-up too.
    events: u64,
    /// Arrivals that had no session yet at the end.
    backlog: u64,
}

/// Check parameters of a simulation; raises ValueError with the first thing that cannot be.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python passes is converted")]
pub fn check_group_commit(parameters: GroupCommitParameters) -> PyResult<()> {
    parameters.parameters()?.check().map_err(refused)
}

/// Simulate sessions that commit through a log with group commit; ValueError for what cannot be, and
/// SimulationTooLongError where `most_events` events do not bring it to its end. Handlers of signals run
/// meanwhile, and what they raise ends it.
#[pyfunction]
#[pyo3(signature = (parameters, seed, warm_up, batches, commits_per_batch, most_events = None))]
#[expect(clippy::needless_pass_by_value, reason = "what Python passes is converted")]
pub fn simulate_group_commit(
    py: Python<'_>,
    parameters: GroupCommitParameters,
    seed: u64,
    warm_up: u64,
    batches: u32,
    commits_per_batch: u64,
    most_events: Option<u64>,
) -> PyResult<Simulated> {
    let parameters = parameters.parameters()?;
    let plan = Plan { warm_up, batches, commits_per_batch };
    let most_events = most_events.unwrap_or(MOST_EVENTS);
    let mut signals = Signals { heard: Instant::now(), raised: None };
    let done = py
        .detach(|| simulate_while(&parameters, seed, plan, most_events, || signals.are_quiet()))
        .map_err(|stopped| signals.raised.take().unwrap_or_else(|| ended(stopped)))?;
    let batches = done.batches.iter().map(|batch| Py::new(py, batch_of(batch)));
    Ok(Simulated {
        batches: PyTuple::new(py, batches.collect::<PyResult<Vec<_>>>()?)?.unbind(),
        commit_time: times_of(done.commit_time),
        response_time: times_of(done.response_time),
        commit_times: done.commit_times,
        response_times: done.response_times,
        events: done.events,
        backlog: done.backlog,
    })
}

fn batch_of(batch: &redolab_sim::Batch) -> SimulatedBatch {
    let [idle_ns, on_cpu_ns, run_queue_ns, log_wait_ns, device_ns, delay_ns, client_ns] =
        batch.state_ns;
    SimulatedBatch {
        elapsed_ns: batch.elapsed_ns,
        commits: batch.commits,
        arrivals: batch.arrivals,
        flushes: batch.flushes,
        flush_ns: batch.flush_ns,
        log_waits: batch.log_waits,
        client_wakes: batch.client_wakes,
        idle_ns,
        on_cpu_ns,
        run_queue_ns,
        log_wait_ns,
        device_ns,
        delay_ns,
        client_ns,
        backlog_ns: batch.backlog_ns,
        cpu_busy_ns: batch.cpu_busy_ns,
        device_busy_ns: batch.device_busy_ns,
        commit_time: times_of(batch.commit_time),
        response_time: times_of(batch.response_time),
    }
}

fn times_of(times: redolab_sim::Times) -> Times {
    (times.sum_ns, times.p50_ns, times.p95_ns, times.p99_ns)
}
