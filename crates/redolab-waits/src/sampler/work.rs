//! The sampler's thread: obeys commands, and takes ticks and bursts when they are due, on a clock with exponential gaps.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use super::burst::{Burst, LogEvents, Place};
use super::config::Config;
use super::observer::Observer;
use super::window::Window;
use crate::kernel::clock;

/// What the thread is told; a reading has where it goes.
pub enum Command {
    Pause,
    Resume,
    Read(Sender<Window>),
    Stop(Sender<Window>),
}

/// What the thread holds.
pub struct Work {
    config: Config,
    events: LogEvents,
    observer: Observer,
    random: fastrand::Rng,
    tick_due: u64,
    burst_due: u64,
    burst: Option<Burst>,
}

impl Work {
    /// Finds the server's processes; nothing is due yet.
    ///
    /// # Errors
    ///
    /// As for [`Observer::of`].
    pub fn new(config: Config) -> io::Result<Self> {
        let observer = Observer::of(config.postmaster, config.leave_out.clone())?;
        let events = LogEvents { sync: config.log_sync.clone(), write: config.log_write.clone() };
        let random = fastrand::Rng::with_seed(config.seed);
        Ok(Self { config, events, observer, random, tick_due: 0, burst_due: 0, burst: None })
    }

    /// Obeys until it is told to stop or nobody can tell it anything any more.
    pub fn run(&mut self, commands: &Receiver<Command>) {
        self.observer.settle();
        let mut paused = false;
        self.draw_dues();
        loop {
            let due = self.burst.as_ref().map_or(self.burst_due, |burst| burst.due);
            let command = if paused {
                commands.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                let wait = due.min(self.tick_due).saturating_sub(clock::now());
                commands.recv_timeout(Duration::from_nanos(wait))
            };
            match command {
                Err(RecvTimeoutError::Timeout) => self.act(),
                Err(RecvTimeoutError::Disconnected) => return,
                Ok(Command::Pause) => {
                    paused = true;
                    self.interrupt();
                }
                Ok(Command::Resume) => {
                    paused = false;
                    self.draw_dues();
                }
                Ok(Command::Read(reply)) => {
                    let _ = reply.send(self.observer.close_window());
                }
                Ok(Command::Stop(reply)) => {
                    self.interrupt();
                    let _ = reply.send(self.observer.close_window());
                    return;
                }
            }
        }
    }

    /// Does what is due. A tick that falls into a burst is taken inside it: to leave it out would
    /// leave out moments in which sessions wait for the log.
    fn act(&mut self) {
        let now = clock::now();
        if now >= self.tick_due {
            self.tick_on_time(now);
        } else if let Some(burst) = &mut self.burst {
            let Observer { postmaster, batch, window, .. } = &mut self.observer;
            let read = burst.step(*postmaster, batch, &self.events, window);
            if read.is_err() {
                burst.give_up(window);
            }
            if read.unwrap_or(true) {
                self.burst = None;
                self.burst_due = clock::now() + self.gap(self.config.bursts_per_s);
            }
        } else if now >= self.burst_due {
            let places = self.observer.server.processes.iter().filter_map(Place::of);
            self.burst = Some(Burst::begin(places, &mut self.random));
        }
    }

    fn tick_on_time(&mut self, woken: u64) {
        let mean = nanoseconds(1.0 / self.config.rate_per_s);
        let mut late = woken > self.tick_due + mean / 2;
        if late {
            // Ticks that were missed are gone: caring for them would only bunch them.
            self.tick_due = woken;
        }
        if self.observer.tick(&mut self.random).is_err() {
            self.observer.window.lost += 1;
            self.observer.server.renew_layout();
        }
        let now = clock::now();
        late |= now - woken > mean / 5;
        self.observer.window.late += u64::from(late);
        // Half of the time is the server's, whatever a tick costs.
        self.tick_due = (self.tick_due + self.gap(self.config.rate_per_s)).max(2 * now - woken);
    }

    /// Breaks off what a pause must not run through.
    fn interrupt(&mut self) {
        if let Some(mut burst) = self.burst.take() {
            burst.give_up(&mut self.observer.window);
        }
        self.observer.forget_rests();
    }

    fn draw_dues(&mut self) {
        let now = clock::now();
        self.tick_due = now + self.gap(self.config.rate_per_s);
        self.burst_due = now.saturating_add(self.gap(self.config.bursts_per_s));
    }

    /// An exponential gap; endless for a rate of 0.
    fn gap(&mut self, rate_per_s: f64) -> u64 {
        // The logarithm of a number from (0, 1] makes the gap exponential.
        let gap_s = -(1.0 - self.random.f64()).ln() / rate_per_s;
        if rate_per_s > 0.0 { nanoseconds(gap_s) } else { u64::MAX / 4 }
    }
}

fn nanoseconds(seconds: f64) -> u64 {
    u64::try_from(Duration::from_secs_f64(seconds).as_nanos()).unwrap_or(u64::MAX / 4)
}
