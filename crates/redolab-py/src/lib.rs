//! `redolab._core`: what Python needs from the Rust crates. Converts and calls, no logic.

mod forecast;
mod group_commit;
mod load;
mod login_paths;
mod places;
mod sampler;

use std::io;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

/// One process of a database server, with its CPU account.
#[pyclass(frozen, get_all, module = "redolab._core")]
struct Task {
    /// Process id.
    pid: u32,
    /// What the process is, such as "postmaster", "client backend" or "walwriter".
    kind: String,
    /// When the process started, in clock ticks since the machine started.
    start_ticks: u64,
    /// Time spent on a CPU, in nanoseconds.
    cpu_ns: u64,
    /// Time spent ready to run but waiting for a CPU, in nanoseconds.
    run_queue_ns: u64,
    /// The kernel's state letter, such as "R" or "S".
    state: char,
}

#[pymethods]
impl Task {
    fn __repr__(&self) -> String {
        format!(
            "Task(pid={}, kind={:?}, start_ticks={}, cpu_ns={}, run_queue_ns={}, state={:?})",
            self.pid, self.kind, self.start_ticks, self.cpu_ns, self.run_queue_ns, self.state
        )
    }
}

impl From<redolab_waits::Task> for Task {
    fn from(task: redolab_waits::Task) -> Self {
        Self {
            pid: task.pid,
            kind: task.kind,
            start_ticks: task.start_ticks,
            cpu_ns: task.cpu_ns,
            run_queue_ns: task.run_queue_ns,
            state: task.state,
        }
    }
}

/// A database server's processes at one instant.
#[pyclass(frozen, get_all, module = "redolab._core")]
struct ServerTasks {
    /// The postmaster first, then its children.
    tasks: Py<PyTuple>,
    /// CPU time of all children that have ended so far, in nanoseconds.
    reaped_cpu_ns: u64,
}

#[pymethods]
impl ServerTasks {
    fn __repr__(&self) -> String {
        format!("ServerTasks(tasks={}, reaped_cpu_ns={})", self.tasks, self.reaped_cpu_ns)
    }
}

/// Cumulative CPU times of the whole machine.
#[pyclass(frozen, get_all, module = "redolab._core")]
struct MachineTimes {
    /// Time the CPUs worked, summed over CPUs, in nanoseconds.
    busy_ns: u64,
    /// Time the hypervisor gave to other machines, summed over CPUs, in nanoseconds.
    steal_ns: u64,
    /// Time the CPUs had nothing to run, summed over CPUs, in nanoseconds.
    idle_ns: u64,
    /// Number of CPUs.
    cpus: u32,
}

#[pymethods]
impl MachineTimes {
    fn __repr__(&self) -> String {
        format!(
            "MachineTimes(busy_ns={}, steal_ns={}, idle_ns={}, cpus={})",
            self.busy_ns, self.steal_ns, self.idle_ns, self.cpus
        )
    }
}

/// Read the CPU accounts of a postmaster and its children.
#[pyfunction]
fn server_tasks(py: Python<'_>, postmaster: u32) -> PyResult<ServerTasks> {
    let read = py.detach(|| redolab_waits::server_tasks(postmaster))?;
    let tasks = read
        .tasks
        .into_iter()
        .map(|task| Py::new(py, Task::from(task)))
        .collect::<PyResult<Vec<_>>>()?;
    Ok(ServerTasks { tasks: PyTuple::new(py, tasks)?.unbind(), reaped_cpu_ns: read.reaped_cpu_ns })
}

/// Read the accounts of every thread of a process; pid and kind are a thread's id and name.
#[pyfunction]
fn process_threads(py: Python<'_>, pid: u32) -> PyResult<Bound<'_, PyTuple>> {
    let read = py.detach(|| redolab_waits::process_threads(pid))?;
    let tasks =
        read.into_iter().map(|task| Py::new(py, Task::from(task))).collect::<PyResult<Vec<_>>>()?;
    PyTuple::new(py, tasks)
}

/// Read the state letter of each process; None for one that is gone.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python passes is converted to a vector")]
fn task_states(py: Python<'_>, pids: Vec<u32>) -> Vec<Option<char>> {
    py.detach(|| redolab_waits::task_states(&pids))
}

/// Read the CPU times of the whole machine.
#[pyfunction]
fn machine_times(py: Python<'_>) -> io::Result<MachineTimes> {
    let read = py.detach(redolab_waits::machine_times)?;
    Ok(MachineTimes {
        busy_ns: read.busy_ns,
        steal_ns: read.steal_ns,
        idle_ns: read.idle_ns,
        cpus: read.cpus,
    })
}

/// What `spin` did, and when, in nanoseconds of the monotonic clock.
#[pyclass(frozen, get_all, module = "redolab._core")]
struct Spun {
    /// Spins done.
    spins: u64,
    /// When the first began.
    begun_ns: u64,
    /// When the last ended.
    ended_ns: u64,
}

#[pymethods]
impl Spun {
    fn __repr__(&self) -> String {
        format!(
            "Spun(spins={}, begun_ns={}, ended_ns={})",
            self.spins, self.begun_ns, self.ended_ns
        )
    }
}

/// From start_ns of the monotonic clock on, do CPU work until `most` spins are done or until_ns has passed.
#[pyfunction]
fn spin(py: Python<'_>, start_ns: u64, most: u64, until_ns: u64) -> Spun {
    let done = py.detach(|| redolab_spin::spin(start_ns, most, until_ns));
    Spun { spins: done.spins, begun_ns: done.begun_ns, ended_ns: done.ended_ns }
}

/// Have the kernel kill this process when its parent ends; `parent` is the process that must be it.
#[pyfunction]
fn die_with_parent(parent: u32) -> io::Result<()> {
    redolab_spin::die_with_parent(parent)
}

/// Redolab's compiled part: processes watched from outside, sessions over the wire, CPU work, the
/// emulated log device, the group-commit simulator, and forecasts.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Task>()?;
    module.add_class::<ServerTasks>()?;
    module.add_class::<MachineTimes>()?;
    module.add_class::<Spun>()?;
    module.add_class::<sampler::Watched>()?;
    module.add_class::<sampler::WaitEnd>()?;
    module.add_class::<sampler::Window>()?;
    module.add_class::<sampler::WaitSampler>()?;
    group_commit::register(module)?;
    forecast::register(module)?;
    module.add_class::<load::SessionWork>()?;
    module.add_class::<load::ClientResponses>()?;
    module.add_class::<load::ClientWork>()?;
    module.add_class::<load::ClientArgument>()?;
    module.add_class::<load::ClientSessions>()?;
    module.add_class::<load::ClientTls>()?;
    module.add_function(wrap_pyfunction!(server_tasks, module)?)?;
    module.add_function(wrap_pyfunction!(process_threads, module)?)?;
    module.add_function(wrap_pyfunction!(task_states, module)?)?;
    module.add_function(wrap_pyfunction!(machine_times, module)?)?;
    module.add_function(wrap_pyfunction!(spin, module)?)?;
    module.add_function(wrap_pyfunction!(die_with_parent, module)?)?;
    module.add_function(wrap_pyfunction!(places::toml_places, module)?)?;
    module.add_function(wrap_pyfunction!(login_paths::login_paths, module)?)?;
    module.add("MOST_LOGIN_PATH_BYTES", redolab_load::MOST_LOGIN_PATH_BYTES)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("LOG_DEVICE_LIBRARY", PyBytes::new(module.py(), redolab_logdevice::LIBRARY))?;
    Ok(())
}
