//! The steady state of sessions that commit, by simulation.

use redolab_sim::{MOST_EVENTS, simulate_while};

use crate::group_commit::averages::SteadyState;
use crate::group_commit::plan::plan;
use crate::refused::Refused;
use redolab_sim::Parameters;

/// Simulate until `commits` commits were counted, after a tenth as many that were not, while `wanted` says so.
///
/// The counted stretch is cut into 20 batches of equal numbers of commits. A mean is the ratio of two sums over
/// all batches; its interval comes from the batches' deviations from it, by Student's t. The same parameters,
/// seed and number give the same result on every machine.
///
/// Source: ratio estimator over batch means, Law and Kelton, Simulation Modeling and Analysis, chapter 9.
///
/// # Errors
/// What cannot be simulated, too few commits, arrivals beyond what can be done, an end that a billion events do
/// not bring, or nobody who wants it any more.
pub fn simulate(
    parameters: &Parameters,
    seed: u64,
    commits: u64,
    wanted: impl FnMut() -> bool,
) -> Result<SteadyState, Refused> {
    let plan = plan(parameters, commits)?;
    let batches = simulate_while(parameters, seed, plan, MOST_EVENTS, wanted)?;
    SteadyState::of(parameters, &batches)
}
