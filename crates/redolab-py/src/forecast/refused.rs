//! Refusals as Python's errors.

use pyo3::create_exception;
use pyo3::exceptions::{PyValueError, PyZeroDivisionError};
use pyo3::prelude::*;
use redolab_forecast::Refused;

create_exception!(
    redolab._core,
    NoSteadyStateError,
    PyValueError,
    "Work arrives as fast as it can be done, or faster: the queue grows without end."
);

create_exception!(
    redolab._core,
    SimulationTooLongError,
    PyValueError,
    "The simulation did not come to its end within its number of events."
);

create_exception!(
    redolab._core,
    NoAnswerError,
    PyValueError,
    "No value of the factor brings what is wanted; the text says why."
);

/// The error that Python raises.
#[expect(clippy::needless_pass_by_value, reason = "the form that map_err wants")]
pub fn raised(refused: Refused) -> PyErr {
    let text = refused.to_string();
    match refused {
        Refused::Invalid(_) => PyValueError::new_err(text),
        Refused::NoSteadyState(_) => NoSteadyStateError::new_err(text),
        Refused::TooLong(_) | Refused::Unwanted => SimulationTooLongError::new_err(text),
        Refused::NoAnswer(_) => NoAnswerError::new_err(text),
        Refused::NoTime => PyZeroDivisionError::new_err(text),
    }
}

/// Everything of this module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("NoSteadyStateError", module.py().get_type::<NoSteadyStateError>())?;
    module.add("NoAnswerError", module.py().get_type::<NoAnswerError>())?;
    module.add("SimulationTooLongError", module.py().get_type::<SimulationTooLongError>())
}
