//! How far a forecast can be trusted.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use redolab_forecast::{Beyond, EXTRAPOLATED, LEVEL, Level, PRIOR, PRIOR_WEIGHT, Scenario};

use crate::forecast::costs::{Asked, Costs};
use crate::forecast::refused::raised;

/// The value of a factor, as Python has it.
#[derive(IntoPyObject)]
pub enum Value {
    #[pyo3(transparent)]
    Whole(i64),
    #[pyo3(transparent)]
    Number(f64),
    #[pyo3(transparent)]
    Word(&'static str),
}

fn value(level: Level) -> Value {
    match level {
        Level::Whole(value) => Value::Whole(value),
        Level::Number(value) => Value::Number(value),
        Level::Word(value) => Value::Word(value),
    }
}

/// The family of settings that a scenario belongs to.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python passes is converted")]
fn family_of(scenario: Asked) -> &'static str {
    redolab_forecast::family_of(&scenario.0)
}

/// Every factor whose value lies outside of what was measured, with the least and the greatest that were; None
/// where it has no value in any measured setting.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python passes is converted")]
fn extrapolated(
    calibration: Costs,
    measured: Vec<Asked>,
    scenario: Asked,
) -> Vec<(&'static str, Option<Value>, Option<Value>)> {
    let measured: Vec<Scenario> = measured.into_iter().map(|one| one.0).collect();
    let beyond = redolab_forecast::extrapolated(&calibration.0, &measured, &scenario.0);
    let ends = |one: Beyond| one.measured.map(|(low, high)| (value(low), value(high))).unzip();
    beyond
        .into_iter()
        .map(|one| {
            let (low, high) = ends(one);
            (one.factor, low, high)
        })
        .collect()
}

/// Verified forecasts that a conformal interval of this level needs; raises ValueError beyond ten thousand.
#[pyfunction]
fn least_verified(level: f64) -> PyResult<usize> {
    redolab_forecast::least_verified(level).ok_or_else(|| {
        PyValueError::new_err(format!(
            "ten thousand verified forecasts do not give a level of {level}"
        ))
    })
}

/// Whether an interval is to be as wide as beyond what was measured.
#[pyfunction]
fn is_wide(extrapolated: bool, prior_holds: bool, verified: bool) -> bool {
    redolab_forecast::is_wide(extrapolated, prior_holds, verified)
}

/// Low and high end of the interval around a forecast; raises ValueError for a level that is none.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python passes is converted")]
fn prediction_interval(
    point: f64,
    replicates: Vec<f64>,
    log_ratios: Vec<f64>,
    level: f64,
    extrapolated: bool,
) -> PyResult<(f64, f64)> {
    redolab_forecast::prediction_interval(point, &replicates, &log_ratios, level, extrapolated)
        .map(|predicted| (predicted.low, predicted.high))
        .map_err(raised)
}

/// Everything of this module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("EXTRAPOLATED", EXTRAPOLATED)?;
    module.add("LEVEL", LEVEL)?;
    module.add("PRIOR", PRIOR)?;
    module.add("PRIOR_WEIGHT", PRIOR_WEIGHT)?;
    module.add_function(wrap_pyfunction!(family_of, module)?)?;
    module.add_function(wrap_pyfunction!(extrapolated, module)?)?;
    module.add_function(wrap_pyfunction!(least_verified, module)?)?;
    module.add_function(wrap_pyfunction!(is_wide, module)?)?;
    module.add_function(wrap_pyfunction!(prediction_interval, module)?)
}
