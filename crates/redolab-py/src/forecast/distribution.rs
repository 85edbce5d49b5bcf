//! Distributions of durations.

use pyo3::prelude::*;
use redolab_forecast::Distribution;

use crate::forecast::refused::raised;

/// `redolab.model.distribution.Distribution`.
#[derive(FromPyObject)]
pub struct Described {
    shape: String,
    values: Vec<f64>,
}

impl Described {
    /// As Rust has it.
    pub fn distribution(&self) -> PyResult<Distribution> {
        Distribution::of(&self.shape, &self.values).map_err(raised)
    }
}

/// Mean in seconds and coefficient of variation; raises ValueError for a shape that there is not.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python passes is converted")]
fn distribution_moments(distribution: Described) -> PyResult<(f64, f64)> {
    let distribution = distribution.distribution()?;
    Ok((distribution.mean_s(), distribution.cv()))
}

/// Everything of this module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(distribution_moments, module)?)
}
