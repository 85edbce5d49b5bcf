//! From event to event: what happens, who has a CPU then, and what comes next for him.

mod after_idle;
mod background;
mod client;
mod draws;
mod log;
mod prepared;
mod process;
mod transaction;

use std::collections::VecDeque;
use std::fmt;

use self::client::Thread;
use self::draws::Draws;
use self::log::Log;
use self::prepared::Prepared;
use self::process::{Phase, Process};
use crate::cpu::{By, Cpu, Next, Started, Work};
use crate::distribution::Invalid;
use crate::events::{Event, Events};
use crate::parameters::{Parameters, Plan};
use crate::rounding::whole;
use crate::tally::{Seen, State, Tally};

struct Simulation<'a> {
    parameters: &'a Parameters,
    prepared: Prepared,
    plan: Plan,
    draws: Draws,
    now_ns: u64,
    events: Events,
    cpu: Cpu,
    /// Whose slice has ended, while what comes of it happens; and what he asks for again meanwhile, as one
    /// whose client takes no time.
    stepping: Option<u32>,
    asked_again_ns: Option<u64>,
    log: Log,
    /// The sessions, then the log writer, then the processes in the background; after them come, in the
    /// numbers, the threads of the client.
    processes: Vec<Process>,
    threads: Vec<Thread>,
    /// Transactions under way.
    active: u32,
    /// A stack for each of the client's threads; one where there is no client.
    idle_sessions: Vec<Vec<u32>>,
    /// The stack whose turn it is.
    idle_turn: usize,
    /// When each arrival came that has no session yet.
    backlog: VecDeque<u64>,
    /// By each process that released the log, to be woken up, the last first.
    to_wake: Vec<Vec<u32>>,
    tick_announced: bool,
    flush_began_ns: u64,
    device_idle_since_ns: u64,
    /// Device time of the flush after the wait that is under way.
    device_left_ns: u64,
    /// From the device's being done to its CPU's having heard of it, if that idles.
    told_after_ns: u64,
    /// What being told then costs who is there.
    interrupt_ns: u64,
    /// When the flush under way will be done if nothing keeps it waiting between.
    device_done_ns: u64,
    background_ns: u64,
    background_runs: bool,
    warm_up_left: u64,
    tally: Tally,
    over: bool,
}

/// Why a simulation has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stopped {
    /// It cannot be simulated.
    Invalid(Invalid),
    /// So many events did not bring it to its end.
    TooLong(u64),
    /// Whoever watched it wanted no more.
    Unwanted,
}

impl fmt::Display for Stopped {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(invalid) => invalid.fmt(formatter),
            Self::TooLong(events) => write!(
                formatter,
                "{events} simulated events did not bring it to its end, because too little happens in the \
                 time that they take; with more CPUs, a higher rate or a shorter think time they do"
            ),
            Self::Unwanted => formatter.write_str("it was broken off"),
        }
    }
}

impl std::error::Error for Stopped {}

impl From<Invalid> for Stopped {
    fn from(invalid: Invalid) -> Self {
        Self::Invalid(invalid)
    }
}

/// Events that are always enough for a forecast: a hundred times what one with very many sessions takes.
pub const MOST_EVENTS: u64 = 1_000_000_000;

/// Events between two questions whether to go on: some milliseconds at the most.
const TURN: u64 = 1 << 12;

/// Simulate until `plan` is done.
///
/// # Errors
/// Parameters that cannot be simulated, or a plan without commits.
pub fn simulate(parameters: &Parameters, seed: u64, plan: Plan) -> Result<Seen, Stopped> {
    simulate_while(parameters, seed, plan, u64::MAX, || true)
}

/// Simulate until `plan` is done, for `most_events` at the most, while `wanted` says so when it is asked.
///
/// # Errors
/// Parameters that cannot be simulated, a plan without commits, or an end before the plan was done.
pub fn simulate_while(
    parameters: &Parameters,
    seed: u64,
    plan: Plan,
    most_events: u64,
    mut wanted: impl FnMut() -> bool,
) -> Result<Seen, Stopped> {
    parameters.check()?;
    if plan.batches == 0 || plan.commits_per_batch == 0 {
        let text = "there must be at least one batch of at least one commit";
        return Err(Invalid(text.to_owned()).into());
    }
    let mut simulation = Simulation::new(parameters, seed, plan)?;
    simulation.start();
    let mut events = 0;
    while let Some((now_ns, event)) = simulation.next_event() {
        if events >= most_events {
            return Err(Stopped::TooLong(events));
        }
        simulation.now_ns = now_ns;
        events += 1;
        simulation.happens(event);
        if events % TURN == 0 && !wanted() {
            return Err(Stopped::Unwanted);
        }
    }
    let backlog = simulation.backlog.len() as u64;
    Ok(simulation.tally.finish(events, backlog))
}

impl<'a> Simulation<'a> {
    fn new(parameters: &'a Parameters, seed: u64, plan: Plan) -> Result<Self, Invalid> {
        let sessions = parameters.sessions as usize;
        let threads =
            if parameters.statements > 0 { parameters.client_threads as usize } else { 0 };
        let cpu = Cpu::new(parameters, sessions + 2 + threads);
        let process = Process {
            phase: Phase::Work,
            state: State::Idle,
            parts: 0,
            part_ns: 0,
            last_part_ns: 0,
            needs: 0,
            arrived_ns: 0,
            committing_ns: 0,
            cold: false,
        };
        Ok(Self {
            prepared: Prepared::new(parameters),
            draws: Draws::new(parameters, seed)?,
            now_ns: 0,
            // Thinking sessions, slices of CPUs without a place, arrivals, the writer, the balance.
            events: Events::new(
                sessions + cpu.servers() + 3,
                whole(parameters.load.pause().mean_ns()),
            ),
            cpu,
            stepping: None,
            asked_again_ns: None,
            log: Log {
                owner: None,
                target: 0,
                inserted: 0,
                written: 0,
                flushed: 0,
                waiting: Vec::with_capacity(sessions),
            },
            processes: vec![process; sessions + 2],
            threads: vec![Thread::default(); threads],
            active: 0,
            idle_sessions: vec![Vec::with_capacity(sessions); threads.max(1)],
            idle_turn: 0,
            backlog: VecDeque::new(),
            to_wake: vec![Vec::new(); sessions + 2],
            tick_announced: false,
            flush_began_ns: 0,
            device_idle_since_ns: 0,
            device_left_ns: 0,
            told_after_ns: 0,
            interrupt_ns: 0,
            device_done_ns: 0,
            background_ns: 0,
            background_runs: false,
            warm_up_left: plan.warm_up,
            tally: Tally::new(parameters.sessions),
            over: false,
            parameters,
            plan,
        })
    }

    fn start(&mut self) {
        self.announce_tick();
        self.announce_balance();
        if self.prepared.burst.is_some() {
            (0..self.parameters.sessions).rev().for_each(|session| self.is_idle(session));
            self.announce_arrival();
            return;
        }
        for session in 0..self.parameters.sessions {
            if let Some(work_ns) = self.pause(session) {
                if self.has_client() {
                    self.tell_client(session, false);
                } else {
                    self.run(session, work_ns, By::Itself);
                }
            }
        }
    }

    fn next_event(&mut self) -> Option<(u64, Event)> {
        if self.over { None } else { self.events.next() }
    }

    fn happens(&mut self, event: Event) {
        match event {
            Event::Slice { server } => self.slice_ends(server),
            Event::DeviceDone => self.device_is_done(),
            Event::Delayed => {
                self.wake_owner(Phase::Delayed, self.parameters.wake_ns, By::Another);
            }
            Event::Thought { session } => self.begin_by_timer(session),
            Event::Arrival => self.arrive(),
            Event::Balance => {
                if let Some(started) = self.cpu.balance(self.now_ns) {
                    self.tally.cpu_busy.enter(self.now_ns);
                    self.starts(started);
                }
                self.announce_balance();
            }
            Event::WriterTick => {
                self.tick_announced = false;
                if self.log.inserted == self.log.flushed || !self.start_writer() {
                    self.announce_tick();
                }
            }
        }
    }

    /// Ask for CPU time. No CPU time does not pass through the station.
    fn run(&mut self, process: u32, mut work_ns: u64, by: By) {
        while work_ns == 0 {
            match self.step(process) {
                Some(next_ns) => work_ns = next_ns,
                None => return,
            }
        }
        if self.stepping == Some(process) {
            self.asked_again_ns = Some(work_ns);
            return;
        }
        let work = self.work(process, work_ns);
        if let Some(started) = self.cpu.ask(process, work, by, self.now_ns) {
            match started.preempted {
                None => self.tally.cpu_busy.enter(self.now_ns),
                Some(preempted) => self.set_state(preempted, State::RunQueue),
            }
            if started.after_idling && matches!(by, By::Another | By::Session { .. }) {
                self.is_cold(process);
            }
            self.starts(started);
        } else {
            self.set_state(process, State::RunQueue);
        }
    }

    /// Only its transaction's own work is not done in the kernel.
    fn work(&self, process: u32, ns: u64) -> Work {
        let own = self.processes.get(process as usize);
        Work { ns, kernel: own.is_some_and(|own| own.phase != Phase::Work) }
    }

    fn starts(&mut self, started: Started) {
        let Started { server, process, slice_ns, .. } = started;
        self.set_state(process, State::OnCpu);
        self.events.at(self.now_ns + slice_ns, Event::Slice { server });
    }

    /// The next transaction of a session takes longer.
    fn is_cold(&mut self, process: u32) {
        if let Some(process) = self.processes.get_mut(process as usize) {
            process.cold = true;
        }
    }

    fn announce_balance(&mut self) {
        if self.parameters.balance_ns > 0 {
            self.events.at(self.now_ns + self.parameters.balance_ns, Event::Balance);
        }
    }

    fn slice_ends(&mut self, server: u32) {
        let Some(process) = self.cpu.slice_of(server, self.now_ns) else { return };
        let mut more_ns = Some(0);
        if self.cpu.end_slice(server) == Next::Done {
            self.stepping = Some(process);
            more_ns = self.step(process);
            while more_ns == Some(0) {
                more_ns = self.step(process);
            }
            self.stepping = None;
            more_ns = more_ns.or(self.asked_again_ns.take());
        }
        if let Some(more_ns) = more_ns {
            self.set_state(process, State::OnCpu);
            let more = self.work(process, more_ns);
            if let Some(slice_ns) = self.cpu.go_on(server, more, self.now_ns) {
                self.events.at(self.now_ns + slice_ns, Event::Slice { server });
                return;
            }
            self.set_state(process, State::RunQueue);
        }
        if let Some(started) = self.cpu.next(server, self.now_ns) {
            self.starts(started);
        } else {
            self.tally.cpu_busy.leave(self.now_ns);
        }
    }

    fn set_state(&mut self, process: u32, state: State) {
        if process < self.parameters.sessions {
            let before = std::mem::replace(&mut self.processes[process as usize].state, state);
            if before != state {
                self.tally.states[before as usize].leave(self.now_ns);
                self.tally.states[state as usize].enter(self.now_ns);
            }
        }
    }

    /// A process has the CPU time it asked for: what comes then. Returns the CPU time it asks for
    /// next, or nothing if it leaves the CPU.
    fn step(&mut self, process: u32) -> Option<u64> {
        if process >= self.background() {
            if process >= self.first_thread() {
                return self.client_step(process);
            }
            self.background_runs = self.background_ns > 0;
            return self.background_runs.then(|| std::mem::take(&mut self.background_ns));
        }
        match self.processes[process as usize].phase {
            Phase::Work => self.part_done(process),
            Phase::EarlyWrite => {
                self.log.written = self.log.written.max(self.log.target);
                self.release_log(process)
            }
            Phase::Sleep => {
                self.set_state(process, State::LogWait);
                None
            }
            Phase::Woken => {
                if self.log.owner == Some(process) {
                    self.lead(process)
                } else if self.log.serves(&self.processes[process as usize]) {
                    self.is_served(process)
                } else {
                    self.take_log(process)
                }
            }
            Phase::Served => self.has_log(process),
            Phase::Delayed => Some(self.begin_flush(process)),
            Phase::Flush => {
                self.log.written = self.log.written.max(self.log.target);
                self.start_device(process)
            }
            Phase::Flushing => self.wait_on(process),
            Phase::Flushed => {
                self.log.flushed = self.log.target;
                self.tally.flush_ns += self.now_ns - self.flush_began_ns;
                self.release_log(process)
            }
            Phase::Post => self.next_post(process),
        }
    }
}
