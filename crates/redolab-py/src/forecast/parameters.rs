//! Parameters of the group-commit model.

use pyo3::exceptions::{PyAttributeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use redolab_forecast::{Distribution, Load, Parameters, Read, SecondLog, Write};

use crate::forecast::costs::{Asked, Costs};
use crate::forecast::fields::{Attributes, Entries, Given, Keywords, Shown};
use crate::forecast::refused::raised;

/// Sessions, CPUs and one or two logs, by the names and in the units of the simulator's `Parameters`; where work
/// comes from is `think` or `arrivals`. Raises ValueError for something that cannot be, named.
#[pyclass(frozen, name = "GroupCommitParameters", module = "redolab._core")]
pub struct Needs {
    /// As Rust has them.
    pub parameters: Parameters,
    fields: Py<PyDict>,
}

impl Needs {
    fn new(py: Python<'_>, parameters: Parameters) -> PyResult<Self> {
        parameters.check().map_err(|invalid| raised(invalid.into()))?;
        let mut entries = Entries(PyDict::new(py));
        parameters.write(&mut entries)?;
        Ok(Self { parameters, fields: entries.0.unbind() })
    }

    fn of(py: Python<'_>, fields: Bound<'_, PyDict>) -> PyResult<Self> {
        let mut keywords = Keywords(fields);
        let parameters = Parameters::read(&mut keywords, Parameters::default())?;
        if !keywords.0.is_empty() {
            let text = format!("there are no such parameters: {}", keywords.0.keys());
            return Err(PyTypeError::new_err(text));
        }
        Self::new(py, parameters)
    }
}

#[pymethods]
impl Needs {
    #[new]
    #[pyo3(signature = (*, sessions, cpus, **others))]
    fn made(
        py: Python<'_>,
        sessions: Bound<'_, PyAny>,
        cpus: Bound<'_, PyAny>,
        others: Option<Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let fields = others.unwrap_or_else(|| PyDict::new(py));
        fields.set_item("sessions", sessions)?;
        fields.set_item("cpus", cpus)?;
        Self::of(py, fields)
    }

    /// The same with other values of some parameters.
    #[pyo3(signature = (**changes))]
    fn replaced(&self, py: Python<'_>, changes: Option<Bound<'_, PyDict>>) -> PyResult<Self> {
        let fields = self.fields.bind(py).copy()?;
        if let Some(changes) = changes {
            fields.update(changes.as_mapping())?;
        }
        Self::of(py, fields)
    }

    fn __getattr__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let field = self.fields.bind(py).get_item(name)?;
        field.ok_or_else(|| PyAttributeError::new_err(name.to_owned()))
    }

    fn __eq__(&self, py: Python<'_>, other: &Self) -> PyResult<bool> {
        self.fields.bind(py).eq(other.fields.bind(py))
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.fields.bind(py).items().to_tuple().hash()
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("GroupCommitParameters({})", self.fields.bind(py))
    }

    /// Mean CPU time of a transaction before its commit, without contention, in server and client, in seconds.
    #[getter]
    fn transaction_cpu_s(&self) -> f64 {
        self.parameters.transaction_cpu_s()
    }

    /// Log per transaction, in bytes.
    #[getter]
    fn transaction_bytes(&self) -> f64 {
        self.parameters.transaction_bytes()
    }
}

/// What the group-commit model needs for a setting. Raises ValueError for what cannot be, and for rows per commit
/// whose cost was not measured.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python passes is converted")]
fn group_commit_needs(py: Python<'_>, calibration: Costs, scenario: Asked) -> PyResult<Needs> {
    Needs::new(py, calibration.0.needs_of(&scenario.0).map_err(raised)?)
}

/// `redolab.model.distribution.Distribution`.
#[derive(FromPyObject)]
struct Described {
    shape: String,
    values: Vec<f64>,
}

impl Given for Distribution {
    fn given(_: &str, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        let Described { shape, values } = value.extract()?;
        Self::of(&shape, &values).map_err(|invalid| raised(invalid.into()))
    }
}

impl Shown for Distribution {
    fn shown<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (shape, values) = self.described();
        let made = py.import("redolab.model.distribution")?.getattr("Distribution")?;
        made.call1((shape, PyTuple::new(py, values)?))
    }
}

/// Mean in seconds and coefficient of variation; raises ValueError for a shape that there is not.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python passes is converted")]
fn distribution_moments(distribution: Bound<'_, PyAny>) -> PyResult<(f64, f64)> {
    let distribution = Distribution::given("distribution", &distribution)?;
    Ok((distribution.mean(), distribution.cv()))
}

/// `redolab.model.group_commit.SecondLog`.
impl Given for SecondLog {
    fn given(_: &str, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::read(&mut Attributes(value.as_borrowed()), Self::default())
    }
}

impl Shown for SecondLog {
    fn shown<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut entries = Entries(PyDict::new(py));
        self.write(&mut entries)?;
        let made = py.import("redolab.model.group_commit")?.getattr("SecondLog")?;
        made.call((), Some(&entries.0))
    }
}

/// Work that comes from the sessions themselves has `think`, and other work `arrivals`.
impl Read<Load> for Keywords<'_> {
    fn read(&mut self, _: &'static str, _: Load) -> PyResult<Load> {
        let think = self.read("think", Distribution::NOTHING)?;
        let Some(arrivals) = self.take("arrivals")?.filter(|arrivals| !arrivals.is_none()) else {
            return Ok(Load::Closed { think });
        };
        if think != Distribution::NOTHING {
            return Err(PyValueError::new_err(
                "sessions that wait for arrivals do not think: leave one of the two out",
            ));
        }
        let gap = Distribution::given("gap", &arrivals.getattr("gap")?)?;
        let burst = arrivals.getattr("burst")?;
        match burst.extract() {
            Ok(burst @ 1..) => Ok(Load::Open { gap, burst }),
            _ => Err(PyValueError::new_err(format!(
                "a burst of {burst} arrivals; it must be at least 1"
            ))),
        }
    }
}

impl Write<Load> for Entries<'_> {
    fn write(&mut self, _: &'static str, load: &Load) -> PyResult<()> {
        let py = self.0.py();
        let (think, arrivals) = match load {
            Load::Closed { think } => (think, py.None().into_bound(py)),
            Load::Open { gap, burst } => {
                let made = py.import("redolab.model.group_commit")?.getattr("Arrivals")?;
                (&Distribution::NOTHING, made.call1((gap.shown(py)?, *burst))?)
            }
        };
        self.write("think", think)?;
        self.0.set_item("arrivals", arrivals)
    }
}

/// Everything of this module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Needs>()?;
    module.add_function(wrap_pyfunction!(distribution_moments, module)?)?;
    module.add_function(wrap_pyfunction!(group_commit_needs, module)?)
}
