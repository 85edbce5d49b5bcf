//! The group-commit simulator, as Python sees it.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use redolab_forecast::Refused;
use redolab_sim::{MOST_EVENTS, Parameters, Plan, Seen, simulate_while};

use crate::forecast::parameters::Needs;
use crate::forecast::refused::raised;
use crate::forecast::signals::Signals;

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
#[pyclass(frozen, module = "redolab._core")]
pub struct Simulated {
    batches: Py<PyTuple>,
    seen: Seen,
}

#[pymethods]
impl Simulated {
    /// The stretches, in the order of time.
    #[getter]
    fn batches(&self, py: Python<'_>) -> Py<PyTuple> {
        self.batches.clone_ref(py)
    }

    /// All commit times: sum, median, 95th and 99th percentile.
    #[getter]
    fn commit_time(&self) -> Times {
        times_of(self.seen.commit_time)
    }

    /// All response times, in the same way.
    #[getter]
    fn response_time(&self) -> Times {
        times_of(self.seen.response_time)
    }

    /// All commit times: longest of a class of durations (ns), and how many there were.
    #[getter]
    fn commit_times(&self) -> Vec<(u64, u64)> {
        self.seen.commit_times.clone()
    }

    /// All response times, in the same way.
    #[getter]
    fn response_times(&self) -> Vec<(u64, u64)> {
        self.seen.response_times.clone()
    }

    /// Events simulated, those of the warm-up too.
    #[getter]
    fn events(&self) -> u64 {
        self.seen.events
    }

    /// Arrivals that had no session yet at the end.
    #[getter]
    fn backlog(&self) -> u64 {
        self.seen.backlog
    }
}

/// What a simulation gives, while handlers of signals run; what they raise ends it.
pub fn seen(
    py: Python<'_>,
    parameters: &Parameters,
    seed: u64,
    plan: Plan,
    most_events: u64,
) -> PyResult<Seen> {
    let mut signals = Signals::new();
    py.detach(|| simulate_while(parameters, seed, plan, most_events, || signals.are_quiet()))
        .map_err(|stopped| signals.raised().unwrap_or_else(|| raised(Refused::from(stopped))))
}

/// Simulate sessions that commit through a log with group commit; ValueError for what cannot be, and
/// SimulationTooLongError where `most_events` events do not bring it to its end. Handlers of signals run
/// meanwhile, and what they raise ends it.
#[pyfunction]
#[pyo3(signature = (parameters, seed, warm_up, batches, commits_per_batch, most_events = None))]
fn simulate_group_commit(
    py: Python<'_>,
    parameters: &Needs,
    seed: u64,
    warm_up: u64,
    batches: u32,
    commits_per_batch: u64,
    most_events: Option<u64>,
) -> PyResult<Simulated> {
    let plan = Plan { warm_up, batches, commits_per_batch };
    let done = seen(py, &parameters.parameters, seed, plan, most_events.unwrap_or(MOST_EVENTS))?;
    let batches = done.batches.iter().map(|batch| Py::new(py, batch_of(batch)));
    let batches = PyTuple::new(py, batches.collect::<PyResult<Vec<_>>>()?)?.unbind();
    Ok(Simulated { batches, seen: done })
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

/// Everything of this module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<SimulatedBatch>()?;
    module.add_class::<Simulated>()?;
    module.add_function(wrap_pyfunction!(simulate_group_commit, module)?)
}
