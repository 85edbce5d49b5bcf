//! The state of a simulation at one instant.

use std::collections::VecDeque;

use super::draws::Draws;
use super::one_log::{Device, Log};
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
    /// The first, and the second if there is one.
    pub logs: Vec<Log>,
    pub devices: Vec<Device>,
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
    /// By each leader, whom his flush of the first log served and who wait for the second with him.
    pub groups: Vec<Vec<u32>>,
    pub tick_announced: bool,
    pub warm_up_left: u64,
    pub tally: Tally,
    pub over: bool,
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
            log: 0,
            needs: 0,
            arrived_ns: 0,
            committing_ns: 0,
            cold: false,
        };
        let logs = Log::all(parameters);
        Ok(Self {
            prepared: Prepared::new(parameters),
            draws: Draws::new(parameters, seed)?,
            now_ns: 0,
            // Thinking sessions, slices of CPUs without a place, the second log, arrivals, the writer, the balance.
            events: Events::new(
                sessions + cpu.servers() + 4,
                whole(parameters.load.pause().nanoseconds().mean()),
            ),
            cpu,
            stepping: None,
            asked_again_ns: None,
            devices: vec![Device::default(); logs.len()],
            logs,
            processes: vec![process; sessions + 1],
            threads: vec![Thread::default(); threads],
            active: 0,
            idle_sessions: vec![Vec::with_capacity(sessions); threads.max(1)],
            idle_turn: 0,
            backlog: VecDeque::new(),
            to_wake: vec![Vec::new(); sessions + 1],
            groups: vec![Vec::new(); sessions + 1],
            tick_announced: false,
            warm_up_left: plan.warm_up,
            tally: Tally::new(parameters.sessions),
            over: false,
            parameters,
            plan,
        })
    }
}
