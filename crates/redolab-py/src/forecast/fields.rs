//! Records of Rust as Python has them: their fields by name, listed where the record is declared.

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use redolab_forecast::{Curve, Read, Source, Span, Target, Write};

/// A value of Python that a field can hold.
pub trait Given: Sized {
    /// As Rust has it; `name` says in the error which field it is of.
    fn given(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Self>;
}

/// A field that Python can be shown.
pub trait Shown {
    /// As Python has it.
    fn shown<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>>;
}

/// Attributes of an object, each of which must be there.
pub struct Attributes<'a, 'py>(pub Borrowed<'a, 'py, PyAny>);

impl Source for Attributes<'_, '_> {
    type Error = PyErr;
}

impl<F: Given> Read<F> for Attributes<'_, '_> {
    fn read(&mut self, name: &'static str, _: F) -> PyResult<F> {
        F::given(name, &self.0.getattr(name)?)
    }
}

/// Keyword arguments, each of which may be left out and is gone once it is read.
pub struct Keywords<'py>(pub Bound<'py, PyDict>);

impl<'py> Keywords<'py> {
    /// One of them.
    pub fn take(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let value = self.0.get_item(name)?;
        if value.is_some() {
            self.0.del_item(name)?;
        }
        Ok(value)
    }
}

impl Source for Keywords<'_> {
    type Error = PyErr;
}

impl<F: Given> Read<F> for Keywords<'_> {
    fn read(&mut self, name: &'static str, usual: F) -> PyResult<F> {
        self.take(name)?.map_or(Ok(usual), |value| F::given(name, &value))
    }
}

/// Entries of a dictionary.
pub struct Entries<'py>(pub Bound<'py, PyDict>);

impl Target for Entries<'_> {
    type Error = PyErr;
}

impl<F: Shown> Write<F> for Entries<'_> {
    fn write(&mut self, name: &'static str, value: &F) -> PyResult<()> {
        self.0.set_item(name, value.shown(self.0.py())?)
    }
}

impl<F: Given> Given for Option<F> {
    fn given(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        if value.is_none() { Ok(None) } else { F::given(name, value).map(Some) }
    }
}

impl<F: Shown> Shown for Option<F> {
    fn shown<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.as_ref().map_or_else(|| Ok(py.None().into_bound(py)), |value| value.shown(py))
    }
}

/// Types that PyO3 converts.
macro_rules! converted {
    (from: $($given:ty),+; to: $($shown:ty),+) => {
        $(impl Given for $given {
            fn given(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Self> {
                value.extract::<$given>().map_err(|error| out_of_range(name, value, error.into()))
            }
        })+
        $(impl Shown for $shown {
            fn shown<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                self.into_bound_py_any(py)
            }
        })+
    };
}

converted!(
    from: bool, u32, i64, f64, Curve, Vec<f64>, Vec<(f64, f64)>;
    to: bool, u32, f64
);

/// What no integer of Rust holds can be nothing that is simulated.
fn out_of_range(name: &str, value: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    if error.is_instance_of::<PyOverflowError>(value.py()) {
        PyValueError::new_err(format!("{name} is {value}; it must be 0 or more, and below 2^32"))
    } else {
        error
    }
}

impl Given for Span {
    fn given(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        f64::given(name, value).map(Self::from)
    }
}

impl Shown for Span {
    fn shown<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.s().shown(py)
    }
}

impl Given for Vec<(Span, Span)> {
    fn given(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        let points = Vec::<(f64, f64)>::given(name, value)?;
        Ok(points.into_iter().map(|(idle, more)| (idle.into(), more.into())).collect())
    }
}

impl Shown for Vec<(Span, Span)> {
    fn shown<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let points = self.iter().map(|(idle, more)| (idle.s(), more.s()));
        Ok(PyTuple::new(py, points.collect::<Vec<_>>())?.into_any())
    }
}
