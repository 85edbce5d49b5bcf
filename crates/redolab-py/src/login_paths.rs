//! Login paths of MySQL's clients.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Read the text of an option file from the bytes of a `.mylogin.cnf`.
///
/// Raises ValueError when they are none, or too many.
#[pyfunction]
pub fn login_paths(file: &[u8]) -> PyResult<String> {
    redolab_load::login_paths(file).map_err(|why| PyValueError::new_err(why.to_string()))
}
