//! Steady states of the group-commit model.

use pyo3::exceptions::PyZeroDivisionError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use redolab_forecast::{BATCHES, Durations, INTERVAL_LEVEL, Interval, Parameters, SteadyState};
use redolab_sim::MOST_EVENTS;

use crate::forecast::parameters::Needs;
use crate::forecast::refused::raised;
use crate::group_commit::seen;

/// Point, low and high end.
type Ends = (f64, f64, f64);

fn ends(interval: Interval) -> Ends {
    (interval.point, interval.low, interval.high)
}

fn durations(times: Durations) -> [Ends; 4] {
    [times.mean_s, times.p50_s, times.p95_s, times.p99_s].map(ends)
}

/// Simulate until so many commits were counted, while handlers of signals run; what they raise ends it.
pub fn simulated(
    py: Python<'_>,
    parameters: &Parameters,
    seed: u64,
    commits: u64,
    most_events: Option<u64>,
) -> PyResult<SteadyState> {
    let plan = redolab_forecast::plan(parameters, commits).map_err(raised)?;
    let most_events = most_events.unwrap_or(MOST_EVENTS);
    SteadyState::of(parameters, &seen(py, parameters, seed, plan, most_events)?).map_err(raised)
}

/// The means of what is simulated until so many commits were counted, by name; each has its point and the ends of
/// its interval. Raises ValueError for too few commits, NoSteadyStateError where more arrives than can be done, and
/// SimulationTooLongError where `most_events` events do not bring it to its end.
#[pyfunction]
#[pyo3(signature = (parameters, seed, commits, most_events = None))]
fn simulate<'py>(
    py: Python<'py>,
    parameters: &Needs,
    seed: u64,
    commits: i64,
    most_events: Option<u64>,
) -> PyResult<Bound<'py, PyDict>> {
    let commits = u64::try_from(commits).unwrap_or(0);
    let state = simulated(py, &parameters.parameters, seed, commits, most_events)?;
    let means = PyDict::new(py);
    means.set_item("elapsed_s", state.elapsed_s)?;
    means.set_item("commits", state.commits)?;
    means.set_item("events", state.events)?;
    for (name, interval) in [
        ("throughput_per_s", state.throughput_per_s),
        ("cpu_utilization", state.cpu_utilization),
        ("device_utilization", state.device_utilization),
        ("log_waits_per_commit", state.log_waits_per_commit),
        ("client_wakes_per_commit", state.client_wakes_per_commit),
        ("backlog", state.backlog),
    ] {
        means.set_item(name, ends(interval))?;
    }
    means.set_item("commits_per_flush", state.commits_per_flush.map(ends))?;
    means.set_item("flush_time_s", state.flush_time_s.map(ends))?;
    means.set_item("commit_time", durations(state.commit_time))?;
    means.set_item("response_time", durations(state.response_time))?;
    means.set_item("sessions_by_state", state.sessions_by_state.map(ends))?;
    Ok(means)
}

/// The sum of `above` by the sum of `below`, with the ends of its interval; raises ZeroDivisionError where the
/// sum below is 0.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python passes is converted")]
fn ratio_of_sums(above: Vec<f64>, below: Vec<f64>) -> PyResult<Ends> {
    redolab_forecast::ratio_of_sums(&above, &below).map(ends).ok_or_else(|| {
        PyZeroDivisionError::new_err("a ratio to nothing, or of fewer than two pairs")
    })
}

/// Everything of this module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("BATCHES", BATCHES)?;
    module.add("INTERVAL_LEVEL", INTERVAL_LEVEL)?;
    module.add_function(wrap_pyfunction!(simulate, module)?)?;
    module.add_function(wrap_pyfunction!(ratio_of_sums, module)?)
}
