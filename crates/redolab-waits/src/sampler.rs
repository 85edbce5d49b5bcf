//! The wait sampler: reads every process's published wait event and scheduler state, on a clock
//! with exponential gaps, and only counts what it saw.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use nix::sys::time::TimeSpec;
use nix::time::{ClockId, ClockNanosleepFlags, clock_gettime, clock_nanosleep};

use crate::symbol::{self, Mapping};
use crate::{children, kind, memory, parse, read_stat};

/// What to sample and how often.
#[derive(Clone, Debug)]
pub struct Config {
    /// The server's first process.
    pub postmaster: u32,
    /// Mean readings per second.
    pub rate_per_s: f64,
    /// Of the gaps between readings.
    pub seed: u64,
    /// Processes that are not looked at: the measuring program's own helpers.
    pub leave_out: Vec<u32>,
}

/// What one tick saw of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sight {
    /// Process id.
    pub pid: u32,
    /// The published event: class in the top byte, event in the rest; 0 when none is published.
    pub event: u32,
    /// Whether the process was on a CPU or waiting for one; not asked of one whose event says that
    /// it is idle.
    pub runnable: bool,
}

/// Everything a sampler saw between its start and its stop.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Ticks per sight.
    pub sights: HashMap<Sight, u64>,
    /// Kind of each process seen, by pid.
    pub kinds: HashMap<u32, String>,
    /// Readings of the whole server.
    pub rounds: u64,
    /// Readings that began later than half a mean gap after they were due.
    pub late: u64,
    /// Readings that failed as a whole.
    pub lost: u64,
    /// Processes whose event changed while their state was read: looked at, not counted.
    pub torn: u64,
    /// CPU time of the sampler, in nanoseconds.
    pub cpu_ns: u64,
    /// Whether the sampler ran at real-time priority.
    pub realtime: bool,
}

/// A sampler at work in a thread of its own.
pub struct Sampler {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Tally>,
}

/// One server process as the sampler knows it.
struct Process {
    pid: u32,
    stat: File,
    /// Where its event is published; `None` until it has a place in shared memory.
    event_at: Option<u64>,
}

/// Where things lie in the server's processes.
struct Layout {
    /// Of the pointer to the published event, the same in every process.
    pointer: u64,
    shared: Vec<Mapping>,
}

struct Server {
    config: Config,
    layout: Layout,
    processes: Vec<Process>,
}

impl Sampler {
    /// Starts to sample.
    ///
    /// # Errors
    ///
    /// `PermissionDenied` when the server's memory may not be read, `Unsupported` when the program
    /// is none this can read, `NotFound` when there is no such process.
    pub fn start(config: Config) -> io::Result<Self> {
        let layout = Layout::of(config.postmaster)?;
        let mut server = Server { config, layout, processes: Vec::new() };
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("wait-sampler".into())
            .spawn(move || server.sample(&seen))?;
        Ok(Self { stop, thread })
    }

    /// Ends the sampling and returns what was seen.
    ///
    /// # Panics
    ///
    /// When the sampler's thread panicked, which is a defect in it.
    #[must_use]
    pub fn stop(self) -> Tally {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("the sampler's thread ends by itself")
    }
}

impl Server {
    fn sample(&mut self, stop: &AtomicBool) -> Tally {
        let mut tally = Tally { realtime: sharpen_clock(), ..Tally::default() };
        let mut random = fastrand::Rng::with_seed(self.config.seed);
        let mean = 1.0 / self.config.rate_per_s;
        let late_after = Duration::from_secs_f64(mean / 2.0);
        let mut due = now();
        let _ = self.follow_processes(&mut tally);
        loop {
            // The logarithm of a number from (0, 1] makes the gap exponential.
            due += Duration::from_secs_f64(-mean * (1.0 - random.f64()).ln());
            sleep_until(due);
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let woken = now();
            if woken > due + late_after {
                tally.late += 1;
                // Ticks that were missed are gone: caring for them would only bunch them.
                due = woken;
            }
            match self.tick(&mut tally, &mut random) {
                Ok(()) => tally.rounds += 1,
                Err(_) => tally.lost += 1,
            }
        }
        tally.cpu_ns = own_cpu_ns();
        tally
    }

    fn tick(&mut self, tally: &mut Tally, random: &mut fastrand::Rng) -> io::Result<()> {
        // The sampler holds a CPU that the server wants: whoever is looked at late is the likelier
        // to stand in the run queue because of it. So looking comes first, and nobody is always last.
        let count = self.processes.len();
        let first = random.usize(..count.max(1));
        for turn in 0..count {
            let process = &self.processes[(first + turn) % count];
            let Some(place) = process.event_at else { continue };
            // One process at a time: its event and its state must be of the same moment, and
            // between two looks at many processes waits of 50 us come and go.
            let event = memory::read_short(self.config.postmaster, place)?;
            let mut runnable = false;
            if !is_idle(event) {
                let Some(letter) = state(&process.stat) else { continue };
                if memory::read_short(self.config.postmaster, place)? != event {
                    tally.torn += 1;
                    continue;
                }
                runnable = letter == 'R';
            }
            *tally.sights.entry(Sight { pid: process.pid, event, runnable }).or_default() += 1;
        }
        self.follow_processes(tally)
    }

    /// Takes in processes that began; those that ended are let go when their state is asked for.
    fn follow_processes(&mut self, tally: &mut Tally) -> io::Result<()> {
        let alive = children(self.config.postmaster)?;
        self.processes.retain(|process| alive.contains(&process.pid));
        for pid in alive {
            let known = self.processes.iter().any(|process| process.pid == pid);
            if known || self.config.leave_out.contains(&pid) {
                continue;
            }
            // The file stays bound to this process even if its pid is given out again.
            let Ok(stat) = File::open(format!("/proc/{pid}/stat")) else { continue };
            if read_stat(pid).is_ok_and(|stat| stat.parent == self.config.postmaster) {
                self.processes.push(Process { pid, stat, event_at: None });
            }
        }
        for process in self.processes.iter_mut().filter(|process| process.event_at.is_none()) {
            process.event_at = self.layout.event_address(process.pid);
            if process.event_at.is_some() {
                let title = fs::read(format!("/proc/{}/cmdline", process.pid)).unwrap_or_default();
                tally.kinds.insert(process.pid, kind::from_title(&String::from_utf8_lossy(&title)));
            }
        }
        Ok(())
    }
}

impl Layout {
    fn of(postmaster: u32) -> io::Result<Self> {
        let pointer = symbol::pointer_address(postmaster)?;
        // Looking at the mappings can be allowed where reading the memory is not: find out now.
        memory::read_word(postmaster, pointer)?;
        Ok(Self { pointer, shared: symbol::shared_mappings(postmaster)? })
    }

    /// Where a process publishes its event; `None` until it has a place in shared memory.
    ///
    /// A process that has just begun still points to a place of its own, and whatever else stands
    /// there is not followed unless it lies inside a mapping that the server shares.
    fn event_address(&self, pid: u32) -> Option<u64> {
        let address = memory::read_word(pid, self.pointer).ok()?;
        let inside = |m: &Mapping| m.start <= address && address <= m.end.saturating_sub(4);
        (address % 4 == 0 && self.shared.iter().any(inside)).then_some(address)
    }
}

/// Whether the event says that the process waits for work: in its main loop (class Activity), or
/// for its client (class Client). Its state need not be asked, which halves the time of a tick.
fn is_idle(event: u32) -> bool {
    matches!(event >> 24, 0x05 | 0x06)
}

fn state(stat: &File) -> Option<char> {
    let mut text = [0_u8; 512];
    let length = stat.read_at(&mut text, 0).ok()?;
    let found = parse::stat(&String::from_utf8_lossy(&text[..length]))?.state;
    (!matches!(found, 'Z' | 'X')).then_some(found)
}

/// Lets this thread wake on time: timer slack off, and real-time priority where that is allowed.
///
/// On saturated CPUs a sampler of ordinary priority wakes mostly when the server sleeps, and then
/// sees far more sleep than there is.
fn sharpen_clock() -> bool {
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    let priority = libc::sched_param { sched_priority: 1 };
    // SAFETY: the pointer is to a live value of the type asked for, and 0 means this thread.
    #[expect(unsafe_code, reason = "no safe wrapper sets the scheduling policy")]
    let result = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const priority) };
    result == 0
}

fn now() -> Duration {
    clock_gettime(ClockId::CLOCK_MONOTONIC).map(Duration::from).unwrap_or_default()
}

fn sleep_until(due: Duration) {
    let flags = ClockNanosleepFlags::TIMER_ABSTIME;
    while clock_nanosleep(ClockId::CLOCK_MONOTONIC, flags, &TimeSpec::from(due)).is_err() {}
}

fn own_cpu_ns() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    parse::schedstat(&text).map_or(0, |(cpu_ns, _)| cpu_ns)
}
