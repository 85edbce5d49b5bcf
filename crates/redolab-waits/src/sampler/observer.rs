//! Looks at a server's processes, and keeps what it saw in the present window.

use std::io;

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

/// A server that is looked at, and what was seen of it since the window began.
pub struct Observer {
    /// Its first process.
    pub postmaster: u32,
    /// Its processes.
    pub server: Server,
    /// What was seen.
    pub window: Window,
    /// For readings of many places.
    pub batch: Batch,
    window_began: u64,
    cpu_before: u64,
    lengths: Lengths,
    tools: Tools,
}

impl Observer {
    /// Finds the server's processes.
    ///
    /// # Errors
    ///
    /// As for [`Server::of`].
    pub fn of(postmaster: u32, leave_out: Vec<u32>) -> io::Result<Self> {
        // Before its processes are met: none of them was observed for longer than the window.
        let window_began = clock::now();
        let server = Server::of(postmaster, leave_out)?;
        Ok(Self {
            postmaster,
            server,
            window: Window::default(),
            batch: Batch::default(),
            window_began,
            cpu_before: 0,
            lengths: Lengths::default(),
            tools: Tools { on_cpu: OnCpu::of_this_thread(), tell: false, text: [0; 512] },
        })
    }

    /// Takes note that from now on the thread that calls this looks, and lets it wake on time.
    pub fn settle(&mut self) {
        self.window.realtime = clock::sharpen();
        self.tools.on_cpu = OnCpu::of_this_thread();
    }

    /// Looks at every process once.
    ///
    /// # Errors
    ///
    /// When nobody could be looked at.
    pub fn tick(&mut self, random: &mut fastrand::Rng) -> io::Result<()> {
        self.tools.on_cpu.woke();
        self.tools.tell = random.f64() < TOLD;
        let tick = self.window.ticks;
        let looks_before = self.window.looks;
        let busy_before = self.window.busy.tick.len();
        self.read_long_idle()?;
        // The sampler holds a CPU that the server wants: whoever is looked at late is the likelier
        // to stand in the run queue because of it. So nobody is always last.
        let count = self.server.processes.len();
        let first = random.usize(..count);
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
        self.batch.read(self.postmaster, places)?;
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
        match (look(process, self.postmaster, &mut self.tools), found) {
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

    /// Gives up the waits that processes were asleep in: nobody looks for a while.
    pub fn forget_rests(&mut self) {
        for process in &mut self.server.processes {
            process.resting = None;
        }
    }

    /// What was seen until now; the next window begins.
    pub fn close_window(&mut self) -> Window {
        (self.window.processes, self.window.ended_cpu_ns) = self.server.close_window();
        let now = clock::now();
        let cpu_ns = clock::own_cpu();
        self.window.elapsed_ns = now - self.window_began;
        self.window.cpu_ns = cpu_ns - self.cpu_before;
        (self.window_began, self.cpu_before) = (now, cpu_ns);
        let next = Window { realtime: self.window.realtime, ..Window::default() };
        std::mem::replace(&mut self.window, next)
    }
}
