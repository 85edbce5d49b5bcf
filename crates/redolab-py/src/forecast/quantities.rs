//! Forecasts of one setting.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use redolab_forecast::{Predicted, Quantities, SEED};

use crate::forecast::parameters::Needs;
use crate::forecast::refused::raised;
use crate::forecast::steady_state::simulated;

/// Low and high end, and how many forecasts were verified before.
type Ends = (f64, f64, usize);

fn ends(predicted: Predicted) -> Ends {
    (predicted.low, predicted.high, predicted.verified)
}

/// Commits that a forecast asks for, from the calibration and from each of its replicates.
#[pyfunction]
fn commits_of_forecast(parameters: &Needs) -> (u64, u64) {
    redolab_forecast::commits_of_forecast(&parameters.parameters)
}

/// Commits that are simulated of those asked for.
#[pyfunction]
fn commits_simulated(parameters: &Needs, commits: u64) -> u64 {
    redolab_forecast::commits_simulated(&parameters.parameters, commits)
}

/// The group-commit model's forecast, simulated with about so many commits, by the names of the quantities; and the
/// events that it took. Raises what `simulate` does.
#[pyfunction]
#[pyo3(signature = (parameters, commits, most_events = None))]
fn forecast<'py>(
    py: Python<'py>,
    parameters: &Needs,
    commits: u64,
    most_events: Option<u64>,
) -> PyResult<(Bound<'py, PyDict>, u64)> {
    let needs = &parameters.parameters;
    let commits = redolab_forecast::commits_simulated(needs, commits);
    let state = simulated(py, needs, SEED, commits, most_events)?;
    let entries = PyDict::new(py);
    for (name, value) in Quantities::of(needs, &state).named() {
        entries.set_item(name, value)?;
    }
    Ok((entries, state.events))
}

/// The quantity whose past errors are those of another.
#[pyfunction]
fn scored(quantity: &str) -> &str {
    redolab_forecast::scored(quantity)
}

/// The interval of a quantity: low and high end, and forecasts verified before.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python passes is converted")]
fn predicted(
    quantity: &str,
    point: f64,
    replicates: Vec<f64>,
    errors: Vec<f64>,
    extrapolated: bool,
) -> PyResult<Ends> {
    redolab_forecast::predicted(quantity, point, &replicates, &errors, extrapolated)
        .map(ends)
        .map_err(raised)
}

/// The interval of a ratio to today's setting, in the same way.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python passes is converted")]
fn predicted_ratio(
    point: f64,
    replicates: Vec<f64>,
    of_ratio: Vec<f64>,
    of_quantity: Vec<f64>,
    extrapolated: bool,
) -> PyResult<Ends> {
    redolab_forecast::predicted_ratio(point, &replicates, &of_ratio, &of_quantity, extrapolated)
        .map(ends)
        .map_err(raised)
}

/// Everything of this module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("SEED", SEED)?;
    module.add_function(wrap_pyfunction!(commits_of_forecast, module)?)?;
    module.add_function(wrap_pyfunction!(commits_simulated, module)?)?;
    module.add_function(wrap_pyfunction!(forecast, module)?)?;
    module.add_function(wrap_pyfunction!(scored, module)?)?;
    module.add_function(wrap_pyfunction!(predicted, module)?)?;
    module.add_function(wrap_pyfunction!(predicted_ratio, module)?)
}
