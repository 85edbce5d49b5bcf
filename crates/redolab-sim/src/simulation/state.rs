//! The state of a simulation at one instant.

use std::collections::VecDeque;

use super::draws::Draws;
use super::prepared::Prepared;
use super::process::{Phase, Process};
use crate::cpu::Cpu;
use crate::distribution::Invalid;
use crate::events::Events;
use crate::parameters::{Parameters, Plan};
use crate::rounding::whole;
use crate::tally::{State, Tally};

/// All that is simulated.
pub struct Simulation<'a> {
    pub parameters: &'a Parameters,
    pub prepared: Prepared,
    pub plan: Plan,
    pub draws: Draws,
    pub now_ns: u64,
    pub events: Events,
    pub cpu: Cpu,
    /// Whose slice has ended, while what comes of it happens; and what he asks for again meanwhile, as one
    /// whose client takes no time.
    pub stepping: Option<u32>,
    pub asked_again_ns: Option<u64>,
    pub log: Log,
    /// The sessions, then the log writer; after them come, in the numbers, the threads of the client.
    pub processes: Vec<Process>,
    pub threads: Vec<Thread>,
    /// Transactions under way.
    pub active: u32,
    /// A stack for each of the client's threads; one where there is no client.
    pub idle_sessions: Vec<Vec<u32>>,
    /// The stack whose turn it is.
    pub idle_turn: usize,
    /// When each arrival came that has no session yet.
    pub backlog: VecDeque<u64>,
    /// By each process that released the log, to be woken up, the last first.
    pub to_wake: Vec<Vec<u32>>,
    pub tick_announced: bool,
    pub flush_began_ns: u64,
    pub device_idle_since_ns: u64,
    /// Device time of the flush after the wait that is under way.
    pub device_left_ns: u64,
    /// From the device's being done to its CPU's having heard of it, if that idles.
    pub told_after_ns: u64,
    /// What being told then costs who is there.
    pub interrupt_ns: u64,
    /// When the flush under way will be done if nothing keeps it waiting between.
    pub device_done_ns: u64,
    pub warm_up_left: u64,
    pub tally: Tally,
    pub over: bool,
}

/// The log. Positions are bytes since the beginning.
#[derive(Debug)]
pub struct Log {
    pub owner: Option<u32>,
    /// Where the owner's flush will have come to.
    pub target: u64,
    pub inserted: u64,
    pub flushed: u64,
    /// In the order in which they came.
    pub waiting: Vec<u32>,
}

impl Log {
    /// Whether a process has what it waits for.
    pub fn serves(&self, process: &Process) -> bool {
        process.needs <= self.flushed
    }
}

/// A thread of the client.
#[derive(Debug, Clone, Default)]
pub struct Thread {
    /// Sessions it has to work for, the first of them now.
    pub inbox: VecDeque<u32>,
}

impl<'a> Simulation<'a> {
    /// Before anything has happened.
    pub fn new(parameters: &'a Parameters, seed: u64, plan: Plan) -> Result<Self, Invalid> {
        let sessions = parameters.sessions as usize;
        let threads =
            if parameters.statements > 0 { parameters.client_threads as usize } else { 0 };
        let cpu = Cpu::new(parameters, sessions + 1 + threads);
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
                flushed: 0,
                waiting: Vec::with_capacity(sessions),
            },
            processes: vec![process; sessions + 1],
            threads: vec![Thread::default(); threads],
            active: 0,
            idle_sessions: vec![Vec::with_capacity(sessions); threads.max(1)],
            idle_turn: 0,
            backlog: VecDeque::new(),
            to_wake: vec![Vec::new(); sessions + 1],
            tick_announced: false,
            flush_began_ns: 0,
            device_idle_since_ns: 0,
            device_left_ns: 0,
            told_after_ns: 0,
            interrupt_ns: 0,
            device_done_ns: 0,
            warm_up_left: plan.warm_up,
            tally: Tally::new(parameters.sessions),
            over: false,
            parameters,
            plan,
        })
    }
}
