//! Costs for a page.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use redolab_explore::{Errors, Explorer};

use crate::forecast::costs::{Asked, Costs};

/// What the page's explorer reads: costs, settings that were measured, and earlier errors, as numbers of 64 bits, the
/// lowest byte first.
#[pyfunction]
fn explorer_numbers(
    py: Python<'_>,
    costs: Vec<Costs>,
    measured: Vec<Asked>,
    errors: Vec<Errors>,
) -> Bound<'_, PyBytes> {
    let costs = costs.into_iter().map(|one| one.0).collect();
    let measured = measured.into_iter().map(|one| one.0).collect();
    let numbers = Explorer::new(costs, measured, errors).written();
    let bytes: Vec<u8> = numbers.into_iter().flat_map(f64::to_le_bytes).collect();
    PyBytes::new(py, &bytes)
}

/// Everything of this module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("FORECAST", redolab_explore::QUANTITIES)?;
    module.add_function(wrap_pyfunction!(explorer_numbers, module)?)
}
