//! Costs and settings that are asked about.

use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;
use redolab_forecast::{
    CPU_FACTORS, Calibration, LEAST_S, POST_SHARE, Scenario, SecondCosts, WAKE_SHARE,
    WAL_WRITER_DELAY_S, Waits,
};

use crate::forecast::fields::read_fields;
use crate::forecast::refused::raised;

/// `redolab.forecast.costs.costs.Calibration`.
pub struct Costs(pub Calibration);

impl<'py> FromPyObject<'_, 'py> for Costs {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(read_fields!(object => Calibration {
            cpus, transaction_cpu_s, row_cpu_s, flush_cpu_s, wake_s, commit_bytes, row_bytes, flush_s,
            device_s_per_byte, after_idle_s, client_s, client_wake_s, hand_over_exit_s, served_s,
            available, available_waiting, cold_s, emulated, one_interrupt, row_known, handed_on, only_seen;
            second: object.getattr("second")?.extract::<Option<OtherLog>>()?.map(|second| second.0),
            in_client: object.getattr("loop")?.extract::<String>()? == "client",
        })))
    }
}

/// `redolab.forecast.costs.costs.SecondCosts`.
struct OtherLog(SecondCosts);

impl<'py> FromPyObject<'_, 'py> for OtherLog {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(read_fields!(object => SecondCosts {
            flush_cpu_s, flush_s, own_device, late_s, in_groups;
        })))
    }
}

/// `redolab.forecast.costs.costs.Scenario`.
pub struct Asked(pub Scenario);

impl<'py> FromPyObject<'_, 'py> for Asked {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let whole = |name: &str| whole(name, &object.getattr(name)?);
        Ok(Self(read_fields!(object => Scenario {
            log_device_ms, cpus, think_time_ms, arrival_rate_per_s, cpu_factor;
            sessions: whole("sessions")?,
            rows_per_commit: whole("rows_per_commit")?,
            commit_wait: waits(&object.getattr("commit_wait")?)?,
            commit_delay_us: whole("commit_delay_us")?,
        })))
    }
}

/// A whole number of a factor; what no integer of Rust holds can be nothing that is simulated.
fn whole(name: &str, value: &Bound<'_, PyAny>) -> PyResult<i64> {
    value.extract().map_err(|error: PyErr| {
        if error.is_instance_of::<PyOverflowError>(value.py()) {
            let text = format!("{name} is {value}; it must be 0 or more, and below 2^32");
            PyValueError::new_err(text)
        } else {
            error
        }
    })
}

fn waits(word: &Bound<'_, PyAny>) -> PyResult<Waits> {
    if let Some(waits) = word.extract::<&str>().ok().and_then(Waits::of) {
        return Ok(waits);
    }
    let text = format!(
        "commit_wait is {}; it is wait or nowait, and of two logs redo or binlog too",
        word.repr()?
    );
    Err(PyValueError::new_err(text))
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
