//! `redolab._core`: what Python needs from the Rust crates. Converts and calls, no logic.

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

/// How often a process was seen with one wait event in one scheduler state.
#[pyclass(frozen, get_all, module = "redolab._core")]
struct Sight {
    /// Process id.
    pid: u32,
    /// What the process is, such as "client backend".
    kind: String,
    /// The published event: class in the top byte; 0 when none is published.
    event: u32,
    /// Whether the process was on a CPU or waiting for one.
    runnable: bool,
    /// How often.
    ticks: u64,
}

/// Everything a wait sampler saw.
#[pyclass(frozen, get_all, module = "redolab._core")]
struct Tally {
    /// Every combination seen.
    sights: Py<PyTuple>,
    /// Readings of the whole server.
    rounds: u64,
    /// Readings later than half a mean gap.
    late: u64,
    /// Readings that failed as a whole.
    lost: u64,
    /// Looks at a process whose event changed meanwhile, which are not counted.
    torn: u64,
    /// CPU time of the sampler, in nanoseconds.
    cpu_ns: u64,
    /// Whether it ran at real-time priority.
    realtime: bool,
}

/// Samples the wait events in a server's memory from construction until `stop`.
#[pyclass(module = "redolab._core")]
struct WaitSampler {
    running: Option<redolab_waits::Sampler>,
}

#[pymethods]
impl WaitSampler {
    #[new]
    fn new(postmaster: u32, rate_per_s: f64, seed: u64, leave_out: Vec<u32>) -> PyResult<Self> {
        let config = redolab_waits::Config { postmaster, rate_per_s, seed, leave_out };
        Ok(Self { running: Some(redolab_waits::Sampler::start(config)?) })
    }

    /// End the sampling and return what was seen; a second call returns an empty tally.
    fn stop(&mut self, py: Python<'_>) -> PyResult<Tally> {
        let running = self.running.take();
        let seen = py.detach(|| running.map(redolab_waits::Sampler::stop)).unwrap_or_default();
        let sights = seen
            .sights
            .iter()
            .map(|(sight, &ticks)| {
                let kind = seen.kinds.get(&sight.pid).cloned().unwrap_or_default();
                let redolab_waits::Sight { pid, event, runnable } = *sight;
                Py::new(py, Sight { pid, kind, event, runnable, ticks })
            })
            .collect::<PyResult<Vec<_>>>()?;
        Ok(Tally {
            sights: PyTuple::new(py, sights)?.unbind(),
            rounds: seen.rounds,
            late: seen.late,
            lost: seen.lost,
            torn: seen.torn,
            cpu_ns: seen.cpu_ns,
            realtime: seen.realtime,
        })
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

/// Redolab's compiled part: processes watched from outside, and the emulated log device.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Task>()?;
    module.add_class::<ServerTasks>()?;
    module.add_class::<MachineTimes>()?;
    module.add_class::<Sight>()?;
    module.add_class::<Tally>()?;
    module.add_class::<WaitSampler>()?;
    module.add_function(wrap_pyfunction!(server_tasks, module)?)?;
    module.add_function(wrap_pyfunction!(process_threads, module)?)?;
    module.add_function(wrap_pyfunction!(task_states, module)?)?;
    module.add_function(wrap_pyfunction!(machine_times, module)?)?;
    module.add("LOG_DEVICE_LIBRARY", PyBytes::new(module.py(), redolab_logdevice::LIBRARY))?;
    Ok(())
}
