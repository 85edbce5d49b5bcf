//! One process of a server, as a sampler knows it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;

use nix::time::ClockId;

use super::window::Watched;
use crate::kernel::procfs::read_stat;
use crate::kernel::{clock, parse};
use crate::postgres::kind;

/// A wait that a process was asleep in.
#[derive(Clone, Copy, Debug)]
pub struct Resting {
    /// The event.
    pub event: u32,
    /// Its CPU time: as long as that stands still it has not run, and is still in the same wait.
    pub cpu_ns: u64,
    /// When it was looked at.
    pub at: u64,
}

/// One process with what was seen of it in the present window.
pub struct Process {
    /// With its name and ticks.
    pub watched: Watched,
    /// Its place in the window.
    pub slot: u32,
    /// Where its event is published; `None` until it has a place in shared memory.
    pub place: Option<u64>,
    /// The event that the present tick found it idle in.
    pub idle: Option<u32>,
    /// How many ticks in a row found it idle.
    pub idle_ticks: u32,
    /// Ticks that failed to look at it since the last that did not.
    pub missed: u32,
    /// The wait it was asleep in at its last look.
    pub resting: Option<Resting>,
    /// Time on a CPU since it started, as last read.
    pub cpu_ns: u64,
    /// The clock of its CPU time.
    pub clock: ClockId,
    stat: Option<File>,
    began: u64,
    read_at: u64,
    cpu_before: u64,
    run_queue_ns: u64,
    run_queue_before: u64,
    run_queue_cpu: Option<u64>,
}

impl Process {
    /// Meets a process that began at `began` on the monotonic clock, or before it. `whole` says
    /// that all it did so far belongs to the window.
    ///
    /// # Errors
    ///
    /// When it is gone.
    pub fn meet(pid: u32, start_ticks: u64, began: u64, whole: bool) -> io::Result<Self> {
        let clock = clock::of_process(pid).ok_or(io::ErrorKind::NotFound)?;
        let mut process = Self {
            watched: Watched { pid, start_ticks, ..Watched::default() },
            slot: 0,
            place: None,
            idle: None,
            idle_ticks: 0,
            missed: 0,
            resting: None,
            cpu_ns: 0,
            clock,
            stat: None,
            began,
            read_at: began,
            cpu_before: 0,
            run_queue_ns: 0,
            run_queue_before: 0,
            run_queue_cpu: None,
        };
        process.read_title();
        process.read_accounts();
        if !whole {
            process.cpu_before = process.cpu_ns;
            process.run_queue_before = process.run_queue_ns;
        }
        Ok(process)
    }

    /// Takes what the process is from the title it shows.
    pub fn read_title(&mut self) {
        let title = fs::read(format!("/proc/{}/cmdline", self.watched.pid)).unwrap_or_default();
        let title = kind::from_title(&String::from_utf8_lossy(&title));
        self.watched.kind = title.kind;
        (self.watched.user, self.watched.database) = (title.user, title.database);
    }

    /// Time on a CPU since it started; `None` when it is gone.
    pub fn read_cpu(&mut self) -> Option<u64> {
        // CPU time that went back is another process's, to which the pid was given since.
        self.cpu_ns = clock::read(self.clock).filter(|&cpu_ns| cpu_ns >= self.cpu_ns)?;
        self.read_at = clock::now();
        Some(self.cpu_ns)
    }

    /// Reads both accounts, the run queue only if the process ran since its last reading.
    pub fn read_accounts(&mut self) {
        let cpu_ns = self.read_cpu();
        if cpu_ns.is_some() && cpu_ns != self.run_queue_cpu {
            let text = fs::read(format!("/proc/{}/schedstat", self.watched.pid));
            let found = text.ok().and_then(|t| parse::schedstat(&String::from_utf8_lossy(&t)));
            if let Some([_, run_queue_ns, _]) = found {
                self.run_queue_ns = run_queue_ns;
                self.run_queue_cpu = cpu_ns;
            }
        }
    }

    /// The state letter; `None` when it is gone. `text` is room to read into.
    pub fn read_letter(&mut self, text: &mut [u8; 512]) -> Option<u8> {
        if self.stat.is_none() {
            // The file stays bound to this process even if its pid is given out again.
            let file = File::open(format!("/proc/{}/stat", self.watched.pid)).ok()?;
            let length = file.read_at(text, 0).ok()?;
            let stat = parse::stat(&String::from_utf8_lossy(&text[..length]))?;
            if stat.start_ticks != self.watched.start_ticks {
                return None;
            }
            self.stat = Some(file);
        }
        let length = self.stat.as_ref()?.read_at(text, 0).ok()?;
        let letter = parse::state_letter(&text[..length])?;
        (!matches!(letter, b'Z' | b'X')).then_some(letter)
    }

    /// Whether the process is still there.
    pub fn is_alive(&self) -> bool {
        read_stat(self.watched.pid).is_ok_and(|stat| {
            stat.start_ticks == self.watched.start_ticks && !matches!(stat.state, 'Z' | 'X')
        })
    }

    /// Takes note that `tick` looked at it.
    pub fn looked_at(&mut self, tick: u32) {
        if self.watched.last_tick == 0 {
            self.watched.first_tick = tick;
        } else {
            self.watched.skipped += self.missed;
        }
        self.missed = 0;
        self.watched.last_tick = tick + 1;
    }

    /// Takes note that it was idle: a process at rest for long needs no open file.
    pub fn idled(&mut self, long: u32) {
        self.resting = None;
        self.idle_ticks = self.idle_ticks.saturating_add(1);
        if self.idle_ticks >= long {
            self.stat = None;
        }
    }

    /// What was seen of it in the window that closes now; the next begins at the last reading.
    pub fn close_window(&mut self) -> Watched {
        let next = Watched {
            kind: self.watched.kind.clone(),
            user: self.watched.user.clone(),
            database: self.watched.database.clone(),
            pid: self.watched.pid,
            start_ticks: self.watched.start_ticks,
            ..Watched::default()
        };
        let mut seen = std::mem::replace(&mut self.watched, next);
        seen.elapsed_ns = self.read_at.saturating_sub(self.began);
        seen.cpu_ns = self.cpu_ns.saturating_sub(self.cpu_before);
        seen.run_queue_ns = self.run_queue_ns.saturating_sub(self.run_queue_before);
        self.began = self.read_at;
        self.cpu_before = self.cpu_ns;
        self.run_queue_before = self.run_queue_ns;
        self.missed = 0;
        seen
    }
}
