//! Bursts of fast reading, which follow waits for the log from their beginning to their end.

use std::io;

use crate::clock;
use crate::memory::Batch;
use crate::window::{Episodes, Window};

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

/// One process's place, with the wait for the log it is in.
struct Place {
    at: u64,
    session: bool,
    /// The event of the last reading.
    event: Option<u32>,
    sync_since: Option<u64>,
    write_since: Option<u64>,
}

impl Burst {
    /// Begins a burst over at most 64 of the places, drawn at random; each with whether it is a
    /// session's.
    pub fn begin(places: impl Iterator<Item = (u64, bool)>, random: &mut fastrand::Rng) -> Self {
        let place =
            |(at, session)| Place { at, session, event: None, sync_since: None, write_since: None };
        let watched = random.choose_multiple(places, PLACES).into_iter().map(place).collect();
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
            let was = place.event.replace(event);
            let enters = |set: &[u32]| {
                entry && was.is_some_and(|was| !set.contains(&was)) && set.contains(&event)
            };
            if place.session && enters(&events.sync) {
                place.sync_since = Some(changed_at);
            } else if !events.sync.contains(&event) {
                end(&mut place.sync_since, changed_at, &mut window.log_sync);
            }
            if enters(&events.write) {
                place.write_since = Some(changed_at);
            } else if !events.write.contains(&event) {
                end(&mut place.write_since, changed_at, &mut window.log_write);
            }
        }
        if let Some(read_at) = self.read_at.replace(at) {
            window.burst_ns += at - read_at;
            window.burst_gaps += 1;
        }
        if !entry {
            self.watched.retain(|p| p.sync_since.is_some() || p.write_since.is_some());
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
                (place.sync_since, &mut window.log_sync),
                (place.write_since, &mut window.log_write),
            ] {
                if let Some(since) = since {
                    episodes.unfinished_s.push(seconds(read_at.saturating_sub(since)));
                }
            }
        }
    }
}

fn end(since: &mut Option<u64>, at: u64, episodes: &mut Episodes) {
    if let Some(since) = since.take() {
        episodes.whole_s.push(seconds(at - since));
    }
}

fn seconds(ns: u64) -> f64 {
    std::time::Duration::from_nanos(ns).as_secs_f64()
}
