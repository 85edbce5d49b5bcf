//! Bursts of fast reading, which follow waits for the log from their beginning to their end.

use std::io;

use nix::time::ClockId;

use super::process::Process;
use super::sync_wait::{Seen, SyncWait, end, seconds};
use super::window::Window;
use crate::kernel::clock;
use crate::kernel::procfs::read_stat;
use crate::postgres::kind;
use crate::postgres::memory::Batch;

/// Gap between two readings.
const STEP: u64 = 50_000;
/// Waits that begin in this time are taken in.
const ENTRY: u64 = 10_000_000;
/// Those still going on this long after it are given up.
const PATIENCE: u64 = 250_000_000;
/// Places watched at once: a reading must stay short against the gap.
const PLACES: usize = 64;

/// Which events are a commit's wait for the log, and which the write itself.
#[derive(Clone, Debug, Default)]
pub struct LogEvents {
    /// All events in which a session's commit waits for its flush, whoever does it.
    pub sync: Vec<u32>,
    /// The write and flush of the log, by any process.
    pub write: Vec<u32>,
}

/// A burst that is going on.
pub struct Burst {
    /// When the next reading is due.
    pub due: u64,
    entry_ends: u64,
    read_at: Option<u64>,
    watched: Vec<Place>,
}

/// One process's place, with the waits for the log it is in.
pub struct Place {
    at: u64,
    pid: u32,
    clock: ClockId,
    session: bool,
    last: Option<Seen>,
    sync: SyncWait,
    write_since: Option<u64>,
}

impl Place {
    /// Where a process publishes its event; `None` if it has no place.
    pub fn of(process: &Process) -> Option<Self> {
        Some(Self {
            at: process.place?,
            pid: process.watched.pid,
            clock: process.clock,
            session: kind::is_session(&process.watched.kind),
            last: None,
            sync: SyncWait::default(),
            write_since: None,
        })
    }

    /// Takes in the event that is published now. What changed did so at `changed_at`; waits are
    /// taken in while `entry` holds.
    fn turn(
        &mut self,
        event: u32,
        changed_at: u64,
        entry: bool,
        events: &LogEvents,
        window: &mut Window,
    ) {
        let (sync, write) = (events.sync.contains(&event), events.write.contains(&event));
        let known =
            self.last.filter(|was| was.sync || self.sync.is_open()).and_then(|was| was.cpu_ns);
        let cpu_ns = if sync { self.slept(known) } else { known };
        let now = Seen { sync, write, cpu_ns };
        let Some(was) = self.last.replace(now) else { return };
        let entry = entry.then_some(changed_at);
        if self.session {
            self.sync.turn(was, now, changed_at, entry, &mut window.log_sync);
        }
        if !write {
            end(&mut self.write_since, changed_at, &mut window.log_write);
        } else if !was.write {
            self.write_since = entry;
        }
    }

    /// Its CPU time if it is asleep, else what was `known` of when it was.
    fn slept(&self, known: Option<u64>) -> Option<u64> {
        let cpu_ns = clock::read(self.clock);
        let awake = || read_stat(self.pid).map_or(true, |stat| stat.state == 'R');
        if cpu_ns == known || awake() { known } else { cpu_ns }
    }

    fn is_followed(&self) -> bool {
        self.sync.since.is_some() || self.write_since.is_some()
    }
}

impl Burst {
    /// Begins a burst over at most 64 of the places, drawn at random.
    pub fn begin(places: impl Iterator<Item = Place>, random: &mut fastrand::Rng) -> Self {
        let watched = random.choose_multiple(places, PLACES);
        let due = clock::now();
        Self { due, entry_ends: due + ENTRY, read_at: None, watched }
    }

    /// Reads once; whether the burst is over.
    ///
    /// # Errors
    ///
    /// When the server's memory cannot be read any more.
    pub fn step(
        &mut self,
        postmaster: u32,
        batch: &mut Batch,
        events: &LogEvents,
        window: &mut Window,
    ) -> io::Result<bool> {
        let at = clock::now();
        batch.read(postmaster, self.watched.iter().map(|place| place.at))?;
        // What changed since the last reading changed in the middle, as far as anybody knows.
        let changed_at = self.read_at.unwrap_or(at).midpoint(at);
        let entry = at < self.entry_ends;
        for (place, event) in self.watched.iter_mut().zip(batch.words()) {
            place.turn(event, changed_at, entry, events, window);
        }
        if let Some(read_at) = self.read_at.replace(at) {
            window.burst_ns += at - read_at;
            window.burst_gaps += 1;
        }
        if !entry {
            self.watched.retain(Place::is_followed);
        }
        let over = self.watched.is_empty() || at >= self.entry_ends + PATIENCE;
        if over {
            self.give_up(window);
        }
        // Half of the time is the server's, whatever a reading costs.
        self.due = (self.due + STEP).max(clock::now() + STEP / 2);
        Ok(over)
    }

    /// Ends the burst: of waits that go on it is known how long they had lasted.
    pub fn give_up(&mut self, window: &mut Window) {
        let read_at = self.read_at.unwrap_or_default();
        for place in self.watched.drain(..) {
            for (since, episodes) in [
                (place.sync.since, &mut window.log_sync),
                (place.write_since, &mut window.log_write),
            ] {
                if let Some(since) = since {
                    episodes.unfinished_s.push(seconds(read_at.saturating_sub(since)));
                }
            }
        }
    }
}
