//! Forecasts, as Python sees them.

mod costs;
mod explore;
pub mod fields;
mod inverse;
pub mod parameters;
mod quantities;
mod queues;
mod record;
pub mod refused;
pub mod signals;
mod steady_state;

use pyo3::prelude::*;

/// Everything of this room in the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    costs::register(module)?;
    explore::register(module)?;
    inverse::register(module)?;
    parameters::register(module)?;
    quantities::register(module)?;
    queues::register(module)?;
    record::register(module)?;
    steady_state::register(module)?;
    refused::register(module)
}
