//! Parameters of the group-commit model.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use redolab_forecast::{Distribution, GroupCommitParameters, Load, SecondLog};

use crate::forecast::costs::{Asked, Costs};
use crate::forecast::distribution::Described;
use crate::forecast::fields::{read_fields, write_fields};
use crate::forecast::refused::raised;

/// `redolab.model.group_commit.GroupCommitParameters`.
pub struct Needs(pub GroupCommitParameters);

/// `redolab.model.group_commit.Arrivals`.
#[derive(FromPyObject)]
struct Arrivals {
    gap: Described,
    burst: u32,
}

impl<'py> FromPyObject<'_, 'py> for Needs {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let distribution = |name: &str| -> PyResult<Distribution> {
            object.getattr(name)?.extract::<Described>()?.distribution()
        };
        let load = match object.getattr("arrivals")?.extract::<Option<Arrivals>>()? {
            None => Load::Closed { think: distribution("think")? },
            Some(Arrivals { gap, burst }) => Load::Open { gap: gap.distribution()?, burst },
        };
        Ok(Self(read_fields!(object => GroupCommitParameters {
            sessions, cpus, quantum_s, rows, contention_s, row_bytes, commit_bytes, flush_cpu_s,
            device_s_per_byte, device_after_idle_s, device_write_s, device_paced, device_cpu,
            interrupt_s, wake_s, post_s, served_s, idle_exit_s, halt_exit_s, halt_after_s, cold_s,
            own_queues, spread_below, fetch_below, balance_s, statements, client_threads, client_s,
            client_wake_s, hand_over_exit_s, group_commit, commit_delay_s, commit_siblings,
            asynchronous, writer_interval_s, writer_bytes, handed_on;
            load: load,
            second: object.getattr("second")?.extract::<Option<OtherLog>>()?.map(|second| second.0),
            row_cpu: distribution("row_cpu")?,
            commit_cpu: distribution("commit_cpu")?,
            device: distribution("device")?,
        })))
    }
}

/// `redolab.model.group_commit.SecondLog`.
struct OtherLog(SecondLog);

impl<'py> FromPyObject<'_, 'py> for OtherLog {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(read_fields!(object => SecondLog {
            flush_cpu_s, own_device, late_s, in_groups, pause_s, enough;
            device: object.getattr("device")?.extract::<Described>()?.distribution()?,
        })))
    }
}

/// Check parameters of a simulation; raises ValueError with the first thing that cannot be.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python passes is converted")]
fn check_group_commit(parameters: Needs) -> PyResult<()> {
    parameters.0.check().map_err(raised)
}

/// What a transaction asks for on average before its commit: seconds of CPU time, and bytes of log.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python passes is converted")]
fn transaction_demand(parameters: Needs) -> (f64, f64) {
    (parameters.0.transaction_cpu_s(), parameters.0.transaction_bytes())
}

/// What the group-commit model needs for a setting, by the names of its parameters; distributions are shape and
/// values, and `load` is the think time, or the gap between bursts of arrivals and how many come in one. Raises
/// ValueError for what cannot be, and for rows per commit whose cost was not measured.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python passes is converted")]
fn group_commit_needs(
    py: Python<'_>,
    calibration: Costs,
    scenario: Asked,
) -> PyResult<Bound<'_, PyDict>> {
    let needs = calibration.0.needs_of(&scenario.0).map_err(raised)?;
    let entries = PyDict::new(py);
    write_fields!(needs => entries, {
        sessions, cpus, quantum_s, rows, contention_s, row_bytes, commit_bytes, flush_cpu_s,
        device_s_per_byte, device_write_s, device_paced, device_cpu, interrupt_s, wake_s, post_s,
        served_s, idle_exit_s, halt_exit_s, halt_after_s, cold_s, own_queues, spread_below,
        fetch_below, balance_s, statements, client_threads, client_s, client_wake_s,
        hand_over_exit_s, group_commit, commit_delay_s, commit_siblings, asynchronous,
        writer_interval_s, writer_bytes, handed_on
    });
    entries.set_item("device_after_idle_s", PyTuple::new(py, &needs.device_after_idle_s)?)?;
    for (name, distribution) in
        [("row_cpu", &needs.row_cpu), ("commit_cpu", &needs.commit_cpu), ("device", &needs.device)]
    {
        entries.set_item(name, described(py, distribution)?)?;
    }
    entries.set_item(
        "second",
        needs.second.as_ref().map(|second| second_entries(py, second)).transpose()?,
    )?;
    match &needs.load {
        Load::Closed { think } => entries.set_item("load", (described(py, think)?, py.None()))?,
        Load::Open { gap, burst } => entries.set_item("load", (described(py, gap)?, burst))?,
    }
    Ok(entries)
}

fn second_entries<'py>(py: Python<'py>, second: &SecondLog) -> PyResult<Bound<'py, PyDict>> {
    let entries = PyDict::new(py);
    write_fields!(second => entries, { flush_cpu_s, own_device, late_s, in_groups, pause_s, enough });
    entries.set_item("device", described(py, &second.device)?)?;
    Ok(entries)
}

fn described<'py>(
    py: Python<'py>,
    distribution: &Distribution,
) -> PyResult<(&'static str, Bound<'py, PyTuple>)> {
    let (shape, values) = distribution.described();
    Ok((shape, PyTuple::new(py, values)?))
}

/// Everything of this module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(check_group_commit, module)?)?;
    module.add_function(wrap_pyfunction!(transaction_demand, module)?)?;
    module.add_function(wrap_pyfunction!(group_commit_needs, module)?)
}
