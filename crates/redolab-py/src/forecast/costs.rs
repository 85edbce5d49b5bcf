//! Costs and settings that are asked about.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use redolab_forecast::{
    CPU_FACTORS, Calibration, LEAST_S, POST_SHARE, Scenario, SecondCosts, WAKE_SHARE,
    WAL_WRITER_DELAY_S, Waits,
};

use crate::forecast::fields::{Attributes, Given};
use crate::forecast::refused::raised;

/// `redolab.forecast.costs.costs.Calibration`.
pub struct Costs(pub Calibration);

impl<'py> FromPyObject<'_, 'py> for Costs {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Calibration::read(&mut Attributes(object), Calibration::default()).map(Self)
    }
}

/// `redolab.forecast.costs.costs.SecondCosts`.
impl Given for SecondCosts {
    fn given(_: &str, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::read(&mut Attributes(value.as_borrowed()), Self::default())
    }
}

/// `redolab.forecast.costs.costs.Scenario`.
pub struct Asked(pub Scenario);

impl<'py> FromPyObject<'_, 'py> for Asked {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Scenario::read(&mut Attributes(object), Scenario::default()).map(Self)
    }
}

impl Given for Waits {
    fn given(name: &str, word: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Some(waits) = word.extract::<&str>().ok().and_then(Self::of) {
            return Ok(waits);
        }
        let text = format!(
            "{name} is {}; it is wait or nowait, and of two logs redo or binlog too",
            word.repr()?
        );
        Err(PyValueError::new_err(text))
    }
}

/// Check a setting that is asked about; raises ValueError with the first thing that cannot be.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python passes is converted")]
fn check_scenario(scenario: Asked) -> PyResult<()> {
    scenario.0.check().map_err(raised)
}

/// A cost with so many sessions.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python passes is converted")]
fn with_sessions(curve: Vec<(u32, f64)>, sessions: u32, cpus: f64) -> f64 {
    redolab_forecast::with_sessions(&curve, sessions, cpus)
}

/// Threads of redolab-load's client.
#[pyfunction]
fn client_threads(cpus: f64) -> u32 {
    redolab_forecast::client_threads(cpus)
}

/// Statements that a client sends for a commit.
#[pyfunction]
fn statements_of(rows_per_commit: i64) -> i64 {
    redolab_forecast::statements_of(rows_per_commit)
}

/// Everything of this module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("LEAST_S", LEAST_S)?;
    module.add("WAKE_SHARE", WAKE_SHARE)?;
    module.add("WAL_WRITER_DELAY_S", WAL_WRITER_DELAY_S)?;
    module.add("POST_SHARE", POST_SHARE)?;
    module.add("CPU_FACTORS", CPU_FACTORS)?;
    module.add_function(wrap_pyfunction!(check_scenario, module)?)?;
    module.add_function(wrap_pyfunction!(with_sessions, module)?)?;
    module.add_function(wrap_pyfunction!(client_threads, module)?)?;
    module.add_function(wrap_pyfunction!(statements_of, module)?)
}
