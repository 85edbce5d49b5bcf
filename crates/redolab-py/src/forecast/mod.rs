//! Forecasts, as Python sees them.

mod queues;
mod refused;

use pyo3::prelude::*;

/// Everything of this room in the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("NoSteadyStateError", module.py().get_type::<refused::NoSteadyStateError>())?;
    queues::register(module)
}
