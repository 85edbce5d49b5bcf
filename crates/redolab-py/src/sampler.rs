//! The wait sampler, as Python sees it.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

/// One process in a window.
#[pyclass(frozen, get_all, module = "redolab._core")]
pub struct Watched {
    /// Process id.
    pid: u32,
    /// When it started, in clock ticks since the machine started.
    start_ticks: u64,
    /// What the process is, such as "postmaster", "client backend" or "walwriter".
    kind: String,
    /// A client backend's user, where its title tells it.
    user: Option<String>,
    /// A client backend's database, where its title tells it.
    database: Option<String>,
    /// The first tick that looked at it.
    first_tick: u32,
    /// One past the last such tick.
    last_tick: u32,
    /// Ticks among them in which the look failed.
    skipped: u32,
    /// How long it lived inside the window, up to its last reading, in seconds.
    elapsed_s: f64,
    /// Time on a CPU inside the window, in nanoseconds.
    cpu_ns: u64,
    /// Time ready to run but waiting for a CPU inside the window, in nanoseconds.
    run_queue_ns: u64,
    /// Whether it ended.
    ended: bool,
}

/// How often one process's wait ended while it was watched.
#[pyclass(frozen, get_all, module = "redolab._core")]
pub struct WaitEnd {
    /// Place in `Window.processes`.
    process: u32,
    /// The published event.
    event: u32,
    /// Time watched, in nanoseconds.
    exposure_ns: u64,
    /// Ends seen.
    ends: u64,
}

/// Everything a wait sampler saw since its start or since the last reading.
#[pyclass(frozen, get_all, module = "redolab._core")]
pub struct Window {
    /// Its length, pauses included, in seconds.
    elapsed_s: f64,
    /// Readings of the whole server.
    ticks: u32,
    /// Ticks later than half a mean gap, or longer than a fifth of one.
    late: u64,
    /// Ticks that failed as a whole.
    lost: u64,
    /// Looks during which the event changed.
    torn: u64,
    /// Looks at one process each, idle ones too.
    looks: u64,
    /// CPU time of the sampler, in nanoseconds.
    cpu_ns: u64,
    /// Whether it runs at real-time priority.
    realtime: bool,
    /// The postmaster first, and every child that was met.
    processes: Py<PyTuple>,
    /// Looks at processes that were not idle: the tick, u32.
    look_tick: Py<PyBytes>,
    /// The place in `processes`, u32.
    look_process: Py<PyBytes>,
    /// The published event, class in the top byte, u32.
    look_event: Py<PyBytes>,
    /// 0 on a CPU, 1 waiting for one, 2 asleep, 3 unknown; u8.
    look_state: Py<PyBytes>,
    /// Ticks that found a process idle: place in `processes`, event, ticks.
    idle: Py<PyTuple>,
    /// By process and event.
    wait_ends: Py<PyTuple>,
    /// Durations of sessions' waits for the log, f64 in seconds.
    log_sync_s: Py<PyBytes>,
    /// How long those had lasted whose end was not seen, f64 in seconds.
    log_sync_unfinished_s: Py<PyBytes>,
    /// Durations of writes and flushes of the log, f64 in seconds.
    log_write_s: Py<PyBytes>,
    /// How long those had lasted whose end was not seen, f64 in seconds.
    log_write_unfinished_s: Py<PyBytes>,
    /// Time in bursts, in seconds.
    burst_s: f64,
    /// Mean gap between two readings of a burst, in seconds; 0 when there were none.
    burst_gap_s: f64,
    /// CPU of processes that ended, after their last reading, in nanoseconds; may be below 0.
    ended_cpu_ns: i64,
}

/// Samples the wait events in a server's memory from construction until `stop`.
#[pyclass(module = "redolab._core")]
pub struct WaitSampler {
    running: Option<redolab_waits::Sampler>,
}

#[pymethods]
impl WaitSampler {
    #[new]
    #[pyo3(signature = (
        postmaster, rate_per_s, seed, leave_out, log_sync = vec![], log_write = vec![], bursts_per_s = 0.0
    ))]
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    fn new(
        py: Python<'_>,
        postmaster: u32,
        rate_per_s: f64,
        seed: u64,
        leave_out: Vec<u32>,
        log_sync: Vec<u32>,
        log_write: Vec<u32>,
        bursts_per_s: f64,
    ) -> PyResult<Self> {
        let config = redolab_waits::Config {
            postmaster,
            rate_per_s,
            seed,
            leave_out,
            log_sync,
            log_write,
            bursts_per_s,
        };
        let running = py.detach(|| redolab_waits::Sampler::start(config))?;
        Ok(Self { running: Some(running) })
    }

    /// No ticks and no readings until `resume`.
    fn pause(&self) -> PyResult<()> {
        Ok(self.running.as_ref().map_or(Ok(()), redolab_waits::Sampler::pause)?)
    }

    /// Go on after `pause`.
    fn resume(&self) -> PyResult<()> {
        Ok(self.running.as_ref().map_or(Ok(()), redolab_waits::Sampler::resume)?)
    }

    /// Return everything seen since the start or the last reading, and go on.
    fn read(&self, py: Python<'_>) -> PyResult<Window> {
        let running = self.running.as_ref();
        let seen = py.detach(|| running.map(redolab_waits::Sampler::read)).transpose()?;
        Window::of(py, seen.unwrap_or_default())
    }

    /// Return the same and end the sampling; a second call returns an empty window.
    fn stop(&mut self, py: Python<'_>) -> PyResult<Window> {
        let running = self.running.take();
        let seen = py.detach(|| running.map(redolab_waits::Sampler::stop)).transpose()?;
        Window::of(py, seen.unwrap_or_default())
    }
}

impl Window {
    fn of(py: Python<'_>, seen: redolab_waits::Window) -> PyResult<Self> {
        let processes =
            seen.processes.into_iter().map(|watched| Py::new(py, Watched::from(watched)));
        let wait_ends = seen.wait_ends.into_iter().map(|((process, event), seen)| {
            let redolab_waits::Ends { exposure_ns, ends } = seen;
            Py::new(py, WaitEnd { process, event, exposure_ns, ends })
        });
        let idle = seen.idle.into_iter().map(|((process, event), ticks)| (process, event, ticks));
        let gaps = u32::try_from(seen.burst_gaps).unwrap_or(u32::MAX).max(1);
        Ok(Self {
            elapsed_s: seconds(seen.elapsed_ns),
            ticks: seen.ticks,
            late: seen.late,
            lost: seen.lost,
            torn: seen.torn,
            looks: seen.looks,
            cpu_ns: seen.cpu_ns,
            realtime: seen.realtime,
            processes: PyTuple::new(py, processes.collect::<PyResult<Vec<_>>>()?)?.unbind(),
            look_tick: whole_numbers(py, &seen.busy.tick),
            look_process: whole_numbers(py, &seen.busy.process),
            look_event: whole_numbers(py, &seen.busy.event),
            look_state: PyBytes::new(py, &seen.busy.state).unbind(),
            idle: PyTuple::new(py, idle)?.unbind(),
            wait_ends: PyTuple::new(py, wait_ends.collect::<PyResult<Vec<_>>>()?)?.unbind(),
            log_sync_s: numbers(py, &seen.log_sync.whole_s),
            log_sync_unfinished_s: numbers(py, &seen.log_sync.unfinished_s),
            log_write_s: numbers(py, &seen.log_write.whole_s),
            log_write_unfinished_s: numbers(py, &seen.log_write.unfinished_s),
            burst_s: seconds(seen.burst_ns),
            burst_gap_s: seconds(seen.burst_ns) / f64::from(gaps),
            ended_cpu_ns: seen.ended_cpu_ns,
        })
    }
}

impl From<redolab_waits::Watched> for Watched {
    fn from(seen: redolab_waits::Watched) -> Self {
        Self {
            pid: seen.pid,
            start_ticks: seen.start_ticks,
            kind: seen.kind,
            user: seen.user,
            database: seen.database,
            first_tick: seen.first_tick,
            last_tick: seen.last_tick,
            skipped: seen.skipped,
            elapsed_s: seconds(seen.elapsed_ns),
            cpu_ns: seen.cpu_ns,
            run_queue_ns: seen.run_queue_ns,
            ended: seen.ended,
        }
    }
}

fn whole_numbers(py: Python<'_>, values: &[u32]) -> Py<PyBytes> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
    PyBytes::new(py, &bytes).unbind()
}

fn numbers(py: Python<'_>, values: &[f64]) -> Py<PyBytes> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
    PyBytes::new(py, &bytes).unbind()
}

fn seconds(ns: u64) -> f64 {
    std::time::Duration::from_nanos(ns).as_secs_f64()
}
