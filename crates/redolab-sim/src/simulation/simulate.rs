//! Simulates from the beginning until the plan is done, or until there is a reason to stop.

use std::fmt;

use super::state::Simulation;
use crate::distribution::Invalid;
use crate::parameters::{Parameters, Plan};
use crate::tally::Seen;

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
