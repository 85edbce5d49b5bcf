//! Steady states of the group-commit model.

use pyo3::exceptions::PyZeroDivisionError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use redolab_forecast::{BATCHES, Durations, INTERVAL_LEVEL, Interval, SteadyState};

use crate::forecast::fields::write_fields;
use crate::forecast::parameters::Needs;
use crate::forecast::refused::raised;
use crate::group_commit::Simulated;

/// Point, low and high end.
type Ends = (f64, f64, f64);

fn ends(interval: Interval) -> Ends {
    (interval.point, interval.low, interval.high)
}

fn durations(times: Durations) -> [Ends; 4] {
    [times.mean_s, times.p50_s, times.p95_s, times.p99_s].map(ends)
}

/// Commits before anything is counted, stretches that are, and commits in each, for so many commits that count;
/// raises ValueError for too few, and NoSteadyStateError where arrivals ask for more CPU time than there is.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python passes is converted")]
fn simulation_plan(parameters: Needs, commits: i64) -> PyResult<(u64, u32, u64)> {
    let commits = u64::try_from(commits).unwrap_or(0);
    let plan = redolab_forecast::plan(&parameters.0, commits).map_err(raised)?;
    Ok((plan.warm_up, plan.batches, plan.commits_per_batch))
}

/// The means of what was simulated.
#[pyclass(frozen, name = "SteadyState", module = "redolab._core")]
pub struct Steady {
    /// As Rust has them.
    pub state: SteadyState,
}

#[pymethods]
impl Steady {
    /// The means by name; each has its point and the ends of its interval.
    fn means<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let state = self.state;
        let means = PyDict::new(py);
        write_fields!(state => means, { elapsed_s, commits, events });
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
}

/// The means of what was simulated; raises NoSteadyStateError where the backlog of arrivals grew.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python passes is converted")]
fn steady_state(parameters: Needs, simulated: &Simulated) -> PyResult<Steady> {
    let state = SteadyState::of(&parameters.0, &simulated.seen).map_err(raised)?;
    Ok(Steady { state })
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
    module.add_class::<Steady>()?;
    module.add_function(wrap_pyfunction!(simulation_plan, module)?)?;
    module.add_function(wrap_pyfunction!(steady_state, module)?)?;
    module.add_function(wrap_pyfunction!(ratio_of_sums, module)?)
}
