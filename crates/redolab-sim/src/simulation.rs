//! The life of a transaction, from event to event.
//!
//! Whoever commits when the log is free becomes the leader and flushes everything inserted so far;
//! who comes meanwhile waits. The leader releases the log when it has woken up after its flush:
//! then all who wait wake, the latest first. Those it served go on; of the others the first on a
//! CPU leads, unless somebody who never slept came first, and the rest sleep again. This is
//! `XLogFlush` and `LWLockAcquireOrWait` of PostgreSQL, where waiters of that kind are put at the
//! head of the list. Without group commit the log goes from hand to hand in the order of asking.

use std::collections::VecDeque;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use crate::cpu::{Cpu, Next, scaled};
use crate::distribution::{Invalid, Sampler, whole};
use crate::events::{Event, Events};
use crate::parameters::{Load, Parameters, Plan};
use crate::tally::{Seen, State, Tally};

/// What a process is at, on a CPU or on its way there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// A part of its transaction.
    Work,
    /// Writing log before its commit.
    EarlyWrite,
    /// Going to sleep because the log is somebody else's.
    Sleep,
    /// Waking up because the log was released, or because it is its own now.
    Woken,
    /// Waking up from its commit delay.
    Delayed,
    /// The CPU part of its flush.
    Flush,
    /// Waking up after its flush.
    Flushed,
    /// Waking the others up after its flush or write.
    Post,
}

/// A long transaction of a client is cut into no more parts than this.
const MOST_TURNS: u64 = 60;

#[derive(Debug, Clone, Copy)]
struct Process {
    phase: Phase,
    state: State,
    /// Parts of its transaction still to be worked.
    parts: u32,
    /// CPU time of each but the last.
    part_ns: u64,
    last_part_ns: u64,
    /// The log must be flushed (or, before its commit, written) to here for it to go on.
    needs: u64,
    arrived_ns: u64,
    committing_ns: u64,
}

/// Positions are bytes since the beginning.
#[derive(Debug)]
struct Log {
    owner: Option<u32>,
    /// Where the owner's flush or write will have come to.
    target: u64,
    inserted: u64,
    written: u64,
    flushed: u64,
    /// In the order in which they came.
    waiting: Vec<u32>,
}

impl Log {
    /// Whether a process has what it waits for.
    fn serves(&self, process: &Process) -> bool {
        process.needs <= if process.parts == 0 { self.flushed } else { self.written }
    }
}

/// A generator per purpose: a change of one distribution leaves the others' draws alone.
struct Random {
    pause: Xoshiro256PlusPlus,
    rows: Xoshiro256PlusPlus,
    commit: Xoshiro256PlusPlus,
    device: Xoshiro256PlusPlus,
}

impl Random {
    fn new(seed: u64) -> Self {
        let mut stream = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut next = || {
            stream.jump();
            stream.clone()
        };
        Self { pause: next(), rows: next(), commit: next(), device: next() }
    }
}

/// Distributions ready to be drawn from, and what follows from the parameters once and for all.
struct Prepared {
    pause: Sampler,
    burst: Option<u32>,
    rows: Sampler,
    commit: Sampler,
    device: Sampler,
    background_ns: u64,
    parts: u32,
    part_bytes: u64,
    last_part_bytes: u64,
}

impl Prepared {
    #[expect(clippy::cast_possible_truncation, reason = "at most 2^32 - 1 parts, as stated")]
    fn new(parameters: &Parameters) -> Result<Self, Invalid> {
        let (pause, burst) = match &parameters.load {
            Load::Closed { think } => (think, None),
            Load::Open { gap, burst } => (gap, Some(*burst)),
        };
        let bytes =
            whole(parameters.commit_bytes + f64::from(parameters.rows) * parameters.row_bytes);
        let parts = match parameters.early_write_bytes {
            0 => 1,
            early => bytes.div_ceil(early).clamp(1, u64::from(u32::MAX)),
        };
        let turns = (2 * u64::from(parameters.statements)).min(MOST_TURNS);
        let parts = parts.max(turns);
        let part_bytes = bytes / parts;
        Ok(Self {
            pause: Sampler::new(pause),
            burst,
            rows: Sampler::new(&parameters.row_cpu.sum_of(parameters.rows)?),
            commit: Sampler::new(&parameters.commit_cpu),
            device: Sampler::new(&parameters.device),
            background_ns: whole(parameters.background_cpu_ns),
            parts: parts as u32,
            part_bytes,
            last_part_bytes: bytes - part_bytes * (parts - 1),
        })
    }
}

struct Simulation<'a> {
    parameters: &'a Parameters,
    prepared: Prepared,
    plan: Plan,
    random: Random,
    now_ns: u64,
    events: Events,
    cpu: Cpu,
    /// The server whose slice has just ended.
    here: Option<u32>,
    log: Log,
    /// The sessions, then the log writer, then the processes in the background.
    processes: Vec<Process>,
    /// Transactions under way.
    active: u32,
    idle_sessions: Vec<u32>,
    /// When each arrival came that has no session yet.
    backlog: VecDeque<u64>,
    /// Being woken up.
    wake: Vec<u32>,
    tick_announced: bool,
    flush_began_ns: u64,
    background_ns: u64,
    background_runs: bool,
    warm_up_left: u64,
    tally: Tally,
    over: bool,
}

/// Simulate until `plan` is done.
///
/// # Errors
/// Parameters that cannot be simulated, or a plan without commits.
pub fn simulate(parameters: &Parameters, seed: u64, plan: Plan) -> Result<Seen, Invalid> {
    parameters.check()?;
    if plan.batches == 0 || plan.commits_per_batch == 0 {
        return Err(Invalid("there must be at least one batch of at least one commit".to_owned()));
    }
    let mut simulation = Simulation::new(parameters, seed, plan)?;
    simulation.start();
    let mut events = 0;
    while let Some((now_ns, event)) = simulation.next_event() {
        simulation.now_ns = now_ns;
        events += 1;
        simulation.happens(event);
    }
    let backlog = simulation.backlog.len() as u64;
    Ok(simulation.tally.finish(events, backlog))
}

impl<'a> Simulation<'a> {
    fn new(parameters: &'a Parameters, seed: u64, plan: Plan) -> Result<Self, Invalid> {
        let sessions = parameters.sessions as usize;
        let cpu = Cpu::new(parameters, sessions + 2);
        let process = Process {
            phase: Phase::Work,
            state: State::Idle,
            parts: 0,
            part_ns: 0,
            last_part_ns: 0,
            needs: 0,
            arrived_ns: 0,
            committing_ns: 0,
        };
        Ok(Self {
            prepared: Prepared::new(parameters)?,
            random: Random::new(seed),
            now_ns: 0,
            // Thinking sessions, a slice per server, the device or a delay, arrivals, the writer.
            events: Events::new(sessions + cpu.servers() + 4),
            cpu,
            here: None,
            log: Log {
                owner: None,
                target: 0,
                inserted: 0,
                written: 0,
                flushed: 0,
                waiting: Vec::with_capacity(sessions),
            },
            processes: vec![process; sessions + 2],
            active: 0,
            idle_sessions: Vec::with_capacity(sessions),
            backlog: VecDeque::new(),
            wake: Vec::with_capacity(sessions),
            tick_announced: false,
            flush_began_ns: 0,
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
            self.idle_sessions.extend((0..self.parameters.sessions).rev());
            self.announce_arrival();
            return;
        }
        for session in 0..self.parameters.sessions {
            if let Some(work_ns) = self.pause(session) {
                self.run(session, work_ns, false);
            }
        }
    }

    fn next_event(&mut self) -> Option<(u64, Event)> {
        if self.over { None } else { self.events.next() }
    }

    fn happens(&mut self, event: Event) {
        match event {
            Event::Slice { server } => self.slice_ends(server),
            Event::Flushed => {
                self.tally.device_busy.leave(self.now_ns);
                self.tally.flushes += 1;
                // What it takes to be back on an idle CPU is part of the device's time as measured.
                self.wake_owner(Phase::Flushed, false);
            }
            Event::Delayed => self.wake_owner(Phase::Delayed, true),
            Event::Thought { session } => {
                let work_ns = self.begin(session, self.now_ns);
                self.run(session, work_ns, true);
            }
            Event::Arrival => self.arrive(),
            Event::Balance => {
                if let Some((server, process, slice_ns)) = self.cpu.balance(self.now_ns) {
                    self.tally.cpu_busy.enter(self.now_ns);
                    self.set_state(process, State::OnCpu);
                    self.events.at(self.now_ns + slice_ns, Event::Slice { server });
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

    // CPU

    /// Ask for CPU time, of a CPU that must be woken up if it idles and `woken` says so. No CPU
    /// time does not pass through the station.
    fn run(&mut self, process: u32, work_ns: u64, woken: bool) {
        let mut work_ns = work_ns;
        while work_ns == 0 {
            match self.step(process) {
                Some(next_ns) => work_ns = next_ns,
                None => return,
            }
        }
        let waker = if woken { self.here } else { None };
        if let Some((server, slice_ns)) = self.cpu.ask(process, work_ns, waker, self.now_ns) {
            self.tally.cpu_busy.enter(self.now_ns);
            self.set_state(process, State::OnCpu);
            self.events.at(self.now_ns + slice_ns, Event::Slice { server });
        } else {
            self.set_state(process, State::RunQueue);
        }
    }

    fn announce_balance(&mut self) {
        if self.parameters.balance_ns > 0 {
            self.events.at(self.now_ns + self.parameters.balance_ns, Event::Balance);
        }
    }

    fn slice_ends(&mut self, server: u32) {
        self.here = Some(server);
        self.goes_on(server);
        self.here = None;
    }

    fn goes_on(&mut self, server: u32) {
        let process = self.cpu.process(server);
        let mut more_ns = Some(0);
        if self.cpu.end_slice(server) == Next::Done {
            more_ns = self.step(process);
            while more_ns == Some(0) {
                more_ns = self.step(process);
            }
        }
        if let Some(more_ns) = more_ns {
            self.set_state(process, State::OnCpu);
            if let Some(slice_ns) = self.cpu.go_on(server, more_ns, self.now_ns) {
                self.events.at(self.now_ns + slice_ns, Event::Slice { server });
                return;
            }
            self.set_state(process, State::RunQueue);
        }
        if let Some((next, slice_ns)) = self.cpu.next(server, self.now_ns) {
            self.set_state(next, State::OnCpu);
            self.events.at(self.now_ns + slice_ns, Event::Slice { server });
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
        if process == self.background() {
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
                    self.has_log(process)
                } else {
                    self.take_log(process)
                }
            }
            Phase::Delayed => Some(self.begin_flush(process)),
            Phase::Flush => {
                self.log.written = self.log.written.max(self.log.target);
                let bytes = self.log.target - self.log.flushed;
                let device_ns = self.prepared.device.draw(&mut self.random.device)
                    + scaled(bytes, self.parameters.device_ns_per_byte);
                self.tally.device_busy.enter(self.now_ns);
                self.set_state(process, State::Device);
                self.events.at(self.now_ns + device_ns, Event::Flushed);
                None
            }
            Phase::Flushed => {
                self.log.flushed = self.log.target;
                self.tally.flush_ns += self.now_ns - self.flush_began_ns;
                self.release_log(process)
            }
            Phase::Post => self.has_log(process),
        }
    }

    /// A process has the log written or flushed as far as it needs.
    fn has_log(&mut self, process: u32) -> Option<u64> {
        if process == self.writer() {
            if !self.writer_is_due() || !self.start_writer() {
                self.announce_tick();
            }
            None
        } else if self.is_committing(process) {
            self.finish(process)
        } else {
            Some(self.next_part(process))
        }
    }

    // Transactions

    /// Begin a transaction. Returns the CPU time it asks for first.
    fn begin(&mut self, session: u32, arrived_ns: u64) -> u64 {
        let own = &self.processes[session as usize];
        let on_cpu = |state: State| self.tally.states[state as usize].count();
        let itself = matches!(own.state, State::OnCpu | State::RunQueue);
        let others = on_cpu(State::OnCpu) + on_cpu(State::RunQueue) - u32::from(itself);
        let work_ns = self.prepared.rows.draw(&mut self.random.rows)
            + self.prepared.commit.draw(&mut self.random.commit)
            + whole(self.parameters.contention_ns * f64::from(others));
        let parts = self.prepared.parts;
        let last_part_ns = match self.parameters.statements {
            0 => work_ns / u64::from(parts),
            1 => work_ns / 2,
            statements => work_ns / u64::from(statements),
        };
        let part_ns = (work_ns - last_part_ns) / u64::from((parts - 1).max(1));
        // It counts from its first row on: just before its commit, if that is the only one.
        if parts == 1 && self.parameters.rows > 1 {
            self.active += 1;
        }
        if self.prepared.burst.is_none() {
            self.tally.arrivals += 1;
        }
        let own = &mut self.processes[session as usize];
        own.arrived_ns = arrived_ns;
        own.parts = parts;
        own.part_ns = part_ns;
        own.last_part_ns = work_ns - part_ns * u64::from(parts - 1);
        self.next_part(session)
    }

    fn next_part(&mut self, session: u32) -> u64 {
        let own = &mut self.processes[session as usize];
        own.phase = Phase::Work;
        // What commits is a client's last statement, from its sending on.
        own.committing_ns = self.now_ns;
        if own.parts == 1 { own.last_part_ns } else { own.part_ns }
    }

    fn part_done(&mut self, session: u32) -> Option<u64> {
        let own = &mut self.processes[session as usize];
        own.parts -= 1;
        let last = own.parts == 0;
        let first = own.parts + 1 == self.prepared.parts;
        let writes_first = match self.parameters.rows {
            ..=1 => last,
            _ => first && !last,
        };
        if writes_first {
            self.active += 1;
        }
        self.log.inserted +=
            if last { self.prepared.last_part_bytes } else { self.prepared.part_bytes };
        own.needs = self.log.inserted;
        if last {
            return self.commit(session);
        }
        let early_bytes = self.parameters.early_write_bytes;
        if early_bytes > 0 && self.log.inserted - self.log.written >= early_bytes {
            return self.take_log(session);
        }
        if self.parameters.statements > 0
            && let Some(server) = self.here
            && self.cpu.process(server) == session
        {
            self.cpu.end_quantum(server);
        }
        Some(self.next_part(session))
    }

    fn commit(&mut self, session: u32) -> Option<u64> {
        if self.parameters.statements == 0 {
            self.processes[session as usize].committing_ns = self.now_ns;
        }
        self.add_background();
        if !self.parameters.asynchronous {
            return self.take_log(session);
        }
        if self.writer_is_due() {
            self.start_writer();
        }
        self.finish(session)
    }

    fn is_committing(&self, session: u32) -> bool {
        self.processes[session as usize].parts == 0
    }

    fn finish(&mut self, session: u32) -> Option<u64> {
        let own = &self.processes[session as usize];
        let (committing_ns, arrived_ns) = (own.committing_ns, own.arrived_ns);
        self.active -= 1;
        self.count(self.now_ns - committing_ns, self.now_ns - arrived_ns);
        if self.prepared.burst.is_none() {
            return self.pause(session);
        }
        if let Some(arrived_ns) = self.backlog.pop_front() {
            self.tally.backlog.leave(self.now_ns);
            return Some(self.begin(session, arrived_ns));
        }
        self.set_state(session, State::Idle);
        self.idle_sessions.push(session);
        None
    }

    fn pause(&mut self, session: u32) -> Option<u64> {
        let think_ns = self.prepared.pause.draw(&mut self.random.pause);
        if think_ns == 0 {
            return Some(self.begin(session, self.now_ns));
        }
        self.set_state(session, State::Idle);
        self.events.at(self.now_ns + think_ns, Event::Thought { session });
        None
    }

    fn arrive(&mut self) {
        self.announce_arrival();
        for _ in 0..self.prepared.burst.unwrap_or(0) {
            self.tally.arrivals += 1;
            if let Some(session) = self.idle_sessions.pop() {
                let work_ns = self.begin(session, self.now_ns);
                self.run(session, work_ns, true);
            } else {
                self.tally.backlog.enter(self.now_ns);
                self.backlog.push_back(self.now_ns);
            }
        }
    }

    fn announce_arrival(&mut self) {
        let gap_ns = self.prepared.pause.draw(&mut self.random.pause);
        self.events.at(self.now_ns + gap_ns, Event::Arrival);
    }

    fn count(&mut self, commit_time_ns: u64, response_time_ns: u64) {
        if self.over {
            return;
        }
        if self.warm_up_left > 0 {
            self.warm_up_left -= 1;
            if self.warm_up_left == 0 {
                self.tally.begin(self.now_ns);
            }
            return;
        }
        if self.tally.committed(commit_time_ns, response_time_ns) == self.plan.commits_per_batch {
            self.over = self.tally.close_batch(self.now_ns) == self.plan.batches as usize;
        }
    }

    // Log

    fn take_log(&mut self, session: u32) -> Option<u64> {
        if self.log.owner.is_none() {
            self.log.owner = Some(session);
            return self.lead(session);
        }
        self.log.waiting.push(session);
        self.tally.log_waits += 1;
        if self.parameters.sleep_ns > 0 {
            self.processes[session as usize].phase = Phase::Sleep;
            return Some(self.parameters.sleep_ns);
        }
        self.set_state(session, State::LogWait);
        None
    }

    /// The log is this process's now.
    fn lead(&mut self, process: u32) -> Option<u64> {
        let writer = process == self.writer();
        if !writer && !self.is_committing(process) {
            self.log.target = self.log.inserted;
            self.processes[process as usize].phase = Phase::EarlyWrite;
            return Some(self.write_ns().max(1));
        }
        let delay_ns = self.parameters.commit_delay_ns;
        if !writer && delay_ns > 0 && self.active > self.parameters.commit_siblings {
            self.set_state(process, State::Delay);
            self.events.at(self.now_ns + delay_ns, Event::Delayed);
            return None;
        }
        Some(self.begin_flush(process))
    }

    fn begin_flush(&mut self, process: u32) -> u64 {
        self.flush_began_ns = self.now_ns;
        let own = &mut self.processes[process as usize];
        own.phase = Phase::Flush;
        let alone = !self.parameters.group_commit && process < self.parameters.sessions;
        self.log.target = if alone { own.needs } else { self.log.inserted };
        self.parameters.flush_cpu_ns + self.write_ns()
    }

    fn write_ns(&self) -> u64 {
        let bytes = self.log.target.saturating_sub(self.log.written);
        scaled(bytes, self.parameters.write_cpu_ns_per_byte)
    }

    fn wake_owner(&mut self, phase: Phase, woken: bool) {
        if let Some(owner) = self.log.owner {
            self.processes[owner as usize].phase = phase;
            self.run(owner, self.parameters.wake_ns, woken);
        }
    }

    /// Free the log and wake those who wait for it. Returns what CPU time the releaser asks for next.
    fn release_log(&mut self, releaser: u32) -> Option<u64> {
        self.log.owner = None;
        let mut woken = std::mem::take(&mut self.wake);
        if self.parameters.group_commit {
            std::mem::swap(&mut woken, &mut self.log.waiting);
        } else {
            self.next_in_line(&mut woken);
        }
        let mut posts = 0;
        while let Some(waiter) = woken.pop() {
            let own = &mut self.processes[waiter as usize];
            // Who is not asleep yet does not go to sleep.
            let asleep = own.phase != Phase::Sleep || own.state == State::LogWait;
            own.phase = Phase::Woken;
            if asleep {
                posts += 1;
                self.run(waiter, self.parameters.wake_ns, true);
            }
        }
        self.wake = woken;
        if posts == 0 || self.parameters.post_ns == 0 {
            return self.has_log(releaser);
        }
        self.processes[releaser as usize].phase = Phase::Post;
        Some(posts * self.parameters.post_ns)
    }

    /// Without group commit the longest waiting has the log next.
    fn next_in_line(&mut self, woken: &mut Vec<u32>) {
        if !self.log.waiting.is_empty() {
            let next = self.log.waiting.remove(0);
            self.log.owner = Some(next);
            woken.push(next);
        }
    }

    // Processes without a session

    fn writer(&self) -> u32 {
        self.parameters.sessions
    }

    fn background(&self) -> u32 {
        self.parameters.sessions + 1
    }

    fn writer_is_due(&self) -> bool {
        let unflushed = self.log.inserted - self.log.flushed;
        self.parameters.asynchronous
            && self.parameters.writer_bytes > 0
            && unflushed >= self.parameters.writer_bytes
    }

    /// Returns whether the log was free.
    fn start_writer(&mut self) -> bool {
        let free = self.log.owner.is_none();
        if free {
            let writer = self.writer();
            self.log.owner = Some(writer);
            self.processes[writer as usize].phase = Phase::Woken;
            self.run(writer, self.parameters.wake_ns, true);
        }
        free
    }

    fn announce_tick(&mut self) {
        if self.parameters.writer_interval_ns > 0 && !self.tick_announced {
            self.tick_announced = true;
            let at_ns = self.now_ns + self.parameters.writer_interval_ns;
            self.events.at(at_ns, Event::WriterTick);
        }
    }

    fn add_background(&mut self) {
        self.background_ns += self.prepared.background_ns;
        if self.background_ns > 0 && !self.background_runs {
            self.background_runs = true;
            let work_ns = std::mem::take(&mut self.background_ns);
            self.run(self.background(), work_ns, false);
        }
    }
}
