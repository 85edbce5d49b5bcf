//! The wait sampler: reads every process's published wait event and scheduler state, on a clock
//! with exponential gaps.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use super::burst::{Burst, LogEvents, Place};
use super::follow::Server;
use super::lengths::Lengths;
use super::look::{Look, Sight, Tools, is_idle, look};
use super::process::Process;
use super::window::Window;
use crate::kernel::clock;
use crate::kernel::on_cpu::OnCpu;
use crate::kernel::state::State;
use crate::postgres::memory::Batch;

/// A process found idle this many times in a row is read together with others like it.
const LONG_IDLE: u32 = 8;
/// The part of the ticks that tell running from waiting for a CPU. Only the joint matrix needs it.
const TOLD: f64 = 0.0625;
/// So long the sampler may hold a CPU before it lets others have it.
const HOLD: u64 = 2_000_000;
/// So long it then sleeps.
const YIELD: u64 = 500_000;

/// What to sample and how often.
#[derive(Clone, Debug)]
pub struct Config {
    /// The server's first process.
    pub postmaster: u32,
    /// Mean ticks per second.
    pub rate_per_s: f64,
    /// Of the gaps between ticks.
    pub seed: u64,
    /// Processes that are not looked at: the measuring program's own.
    pub leave_out: Vec<u32>,
    /// Events in which a commit waits for its flush.
    pub log_sync: Vec<u32>,
    /// Events that are a write or flush of the log.
    pub log_write: Vec<u32>,
    /// Mean bursts per second; 0 for none.
    pub bursts_per_s: f64,
}

/// A sampler at work in a thread of its own. It ends when this is dropped.
pub struct Sampler {
    commands: Sender<Command>,
}

enum Command {
    Pause,
    Resume,
    Read(Sender<Window>),
    Stop(Sender<Window>),
}

/// What the thread holds.
struct Work {
    config: Config,
    events: LogEvents,
    server: Server,
    window: Window,
    window_began: u64,
    cpu_before: u64,
    lengths: Lengths,
    random: fastrand::Rng,
    batch: Batch,
    tools: Tools,
    tick_due: u64,
    burst_due: u64,
    burst: Option<Burst>,
}

impl Sampler {
    /// Starts to sample.
    ///
    /// # Errors
    ///
    /// `PermissionDenied` when the server's memory may not be read, `Unsupported` when the program
    /// is none this can read, `NotFound` when there is no such process.
    pub fn start(config: Config) -> io::Result<Self> {
        let server = Server::of(config.postmaster, config.leave_out.clone())?;
        let events = LogEvents { sync: config.log_sync.clone(), write: config.log_write.clone() };
        let random = fastrand::Rng::with_seed(config.seed);
        let mut work = Work {
            config,
            events,
            server,
            window: Window::default(),
            window_began: clock::now(),
            cpu_before: 0,
            lengths: Lengths::default(),
            random,
            batch: Batch::default(),
            tools: Tools { on_cpu: OnCpu::of_this_thread(), tell: false, text: [0; 512] },
            tick_due: 0,
            burst_due: 0,
            burst: None,
        };
        let (commands, received) = channel();
        std::thread::Builder::new()
            .name("wait-sampler".into())
            .spawn(move || work.run(&received))?;
        Ok(Self { commands })
    }

    /// No ticks and no readings until [`Sampler::resume`].
    ///
    /// # Errors
    ///
    /// When the sampler's thread broke, which is a defect in it; so for the others.
    pub fn pause(&self) -> io::Result<()> {
        self.commands.send(Command::Pause).map_err(broken)
    }

    /// Goes on after [`Sampler::pause`].
    ///
    /// # Errors
    ///
    /// See [`Sampler::pause`].
    pub fn resume(&self) -> io::Result<()> {
        self.commands.send(Command::Resume).map_err(broken)
    }

    /// Everything seen since the start or the last reading; the sampler goes on.
    ///
    /// # Errors
    ///
    /// See [`Sampler::pause`].
    pub fn read(&self) -> io::Result<Window> {
        self.ask(Command::Read)
    }

    /// The same, and ends the sampling.
    ///
    /// # Errors
    ///
    /// See [`Sampler::pause`].
    pub fn stop(self) -> io::Result<Window> {
        self.ask(Command::Stop)
    }

    fn ask(&self, command: fn(Sender<Window>) -> Command) -> io::Result<Window> {
        let (reply, window) = channel();
        self.commands.send(command(reply)).map_err(broken)?;
        window.recv().map_err(broken)
    }
}

fn broken(_: impl std::error::Error) -> io::Error {
    io::Error::other("the wait sampler's thread broke")
}

impl Work {
    fn run(&mut self, commands: &Receiver<Command>) {
        self.window.realtime = clock::sharpen();
        self.tools.on_cpu = OnCpu::of_this_thread();
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
                    let _ = reply.send(self.close_window());
                }
                Ok(Command::Stop(reply)) => {
                    self.interrupt();
                    let _ = reply.send(self.close_window());
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
            let read =
                burst.step(self.config.postmaster, &mut self.batch, &self.events, &mut self.window);
            if read.is_err() {
                burst.give_up(&mut self.window);
            }
            if read.unwrap_or(true) {
                self.burst = None;
                self.burst_due = clock::now() + self.gap(self.config.bursts_per_s);
            }
        } else if now >= self.burst_due {
            let places = self.server.processes.iter().filter_map(Place::of);
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
        if self.tick().is_err() {
            self.window.lost += 1;
            self.server.renew_layout();
        }
        let now = clock::now();
        late |= now - woken > mean / 5;
        self.window.late += u64::from(late);
        // Half of the time is the server's, whatever a tick costs.
        self.tick_due = (self.tick_due + self.gap(self.config.rate_per_s)).max(2 * now - woken);
    }

    fn tick(&mut self) -> io::Result<()> {
        self.tools.on_cpu.woke();
        self.tools.tell = self.random.f64() < TOLD;
        let tick = self.window.ticks;
        let looks_before = self.window.looks;
        let busy_before = self.window.busy.tick.len();
        self.read_long_idle()?;
        // The sampler holds a CPU that the server wants: whoever is looked at late is the likelier
        // to stand in the run queue because of it. So nobody is always last.
        let count = self.server.processes.len();
        let first = self.random.usize(..count);
        let mut held_since = clock::now();
        for turn in 0..count {
            let at = (first + turn) % count;
            let process = &self.server.processes[at];
            let seen = process.idle.is_some() || process.watched.last_tick > tick;
            if process.place.is_none() || seen {
                continue;
            }
            self.look_at(at, None);
            if clock::now() > held_since + HOLD {
                clock::sleep_until(clock::now() + YIELD);
                held_since = clock::now();
                self.tools.on_cpu.woke();
            }
        }
        let followed = self.server.follow();
        for slot in std::mem::take(&mut self.server.lost_place) {
            self.take_back(slot, busy_before);
        }
        // Those that have just begun: a process of a few milliseconds is there at one tick at most.
        for at in 0..self.server.processes.len() {
            let process = &self.server.processes[at];
            let unseen = process.watched.last_tick == 0 && process.idle.is_none();
            if unseen && process.place.is_some() {
                self.look_at(at, None);
            }
        }
        for process in &mut self.server.processes {
            // Only now is it known that its place was still its own.
            let Some(event) = process.idle.take() else { continue };
            if followed.is_ok() && process.place.is_some() {
                *self.window.idle.entry((process.slot, event)).or_default() += 1;
                self.window.looks += 1;
                process.looked_at(tick);
            }
        }
        if self.window.looks == looks_before {
            followed?;
        }
        self.window.ticks += 1;
        Ok(())
    }

    /// Takes back the present tick's look at a process whose place was given to another meanwhile:
    /// the event may have been the other's.
    fn take_back(&mut self, slot: u32, busy_before: usize) {
        let busy = &mut self.window.busy;
        let Some(at) = (busy_before..busy.tick.len()).find(|&at| busy.process[at] == slot) else {
            return;
        };
        busy.tick.remove(at);
        busy.process.remove(at);
        busy.event.remove(at);
        busy.state.remove(at);
        self.window.looks -= 1;
        self.server.skip(slot);
    }

    /// Reads all processes at once that have been idle for long. One at a time would cost more;
    /// but between two looks at many processes short waits come and go, so busy ones are looked at
    /// one by one.
    fn read_long_idle(&mut self) -> io::Result<()> {
        let long_idle = |p: &&mut Process| p.idle_ticks >= LONG_IDLE && p.place.is_some();
        let places = self.server.processes.iter_mut().filter(long_idle).filter_map(|p| p.place);
        self.batch.read(self.config.postmaster, places)?;
        let mut awake = Vec::new();
        let processes = self.server.processes.iter_mut().enumerate();
        for ((at, process), event) in
            processes.filter(|(_, process)| long_idle(process)).zip(self.batch.words())
        {
            if is_idle(event) {
                process.idle = Some(event);
            } else {
                awake.push((at, event));
            }
        }
        for (at, event) in awake {
            self.look_at(at, Some(event));
        }
        Ok(())
    }

    /// Looks at one process. `found` is the event that a reading of many found
    /// a moment before: that moment counts, or a process that fell idle since would be seen idle
    /// too often.
    fn look_at(&mut self, at: usize, found: Option<u32>) {
        let process = &mut self.server.processes[at];
        match (look(process, self.config.postmaster, &mut self.tools), found) {
            (Some(Sight::Idle(event)), None) => {
                self.end_rest(at, None);
                let process = &mut self.server.processes[at];
                process.idle = Some(event);
                process.idled(LONG_IDLE);
            }
            (Some(Sight::Idle(_)), Some(event)) => self.busy(at, event, State::Unknown, true),
            (Some(Sight::Busy(look)), Some(event)) if look.event != event => {
                self.busy(at, event, State::Unknown, true);
            }
            (Some(Sight::Busy(look)), _) => {
                if look.event != 0 {
                    let slot = self.server.processes[at].slot;
                    let ends = self.window.wait_ends.entry((slot, look.event)).or_default();
                    ends.exposure_ns += look.exposure_ns;
                    ends.ends += u64::from(look.torn);
                }
                self.end_rest(at, Some(&look));
                self.busy(at, look.event, look.state, look.torn);
                self.server.processes[at].resting = look.resting;
            }
            (None, _) => {
                // Whether it ended or moved is found out when the processes are followed.
                process.missed += 1;
                process.place = None;
                process.resting = None;
            }
        }
    }

    fn busy(&mut self, at: usize, event: u32, state: State, torn: bool) {
        let process = &mut self.server.processes[at];
        process.idle_ticks = 0;
        process.resting = None;
        process.looked_at(self.window.ticks);
        self.window.looks += 1;
        self.window.torn += u64::from(torn);
        self.window.busy.tick.push(self.window.ticks);
        self.window.busy.process.push(process.slot);
        self.window.busy.event.push(event);
        self.window.busy.state.push(state as u8);
    }

    /// The wait that a process slept in at its last look went on until `look`, or ended before.
    fn end_rest(&mut self, at: usize, look: Option<&Look>) {
        let process = &mut self.server.processes[at];
        let Some(rest) = process.resting.take() else { return };
        let outlasted = look.is_some_and(|l| l.event == rest.event && l.cpu_ns == rest.cpu_ns);
        let gap_ns = clock::now() - rest.at;
        if self.lengths.counts(rest.event, gap_ns, outlasted) {
            let ends = self.window.wait_ends.entry((process.slot, rest.event)).or_default();
            ends.exposure_ns += gap_ns;
            ends.ends += u64::from(!outlasted);
        }
    }

    /// Breaks off what a pause must not run through.
    fn interrupt(&mut self) {
        if let Some(mut burst) = self.burst.take() {
            burst.give_up(&mut self.window);
        }
        for process in &mut self.server.processes {
            process.resting = None;
        }
    }

    fn close_window(&mut self) -> Window {
        (self.window.processes, self.window.ended_cpu_ns) = self.server.close_window();
        let now = clock::now();
        let cpu_ns = clock::own_cpu();
        self.window.elapsed_ns = now - self.window_began;
        self.window.cpu_ns = cpu_ns - self.cpu_before;
        (self.window_began, self.cpu_before) = (now, cpu_ns);
        let next = Window { realtime: self.window.realtime, ..Window::default() };
        std::mem::replace(&mut self.window, next)
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
