//! How much is simulated for a steady state.

use redolab_sim::Plan;

use crate::refused::Refused;
use crate::text::{general, significant};
use redolab_sim::{Load, Parameters};

/// Stretches of equal numbers of commits into which what counts is cut.
pub const BATCHES: u32 = 20;
/// Commits without which no steady state is known.
const FEWEST_COMMITS: u64 = 1_000;

/// The plan for `commits` commits that count, after a tenth as many that do not.
///
/// # Errors
/// Fewer commits than 1,000 or than 20 per session, or arrivals that ask for more CPU time than there is.
pub fn plan(parameters: &Parameters, commits: u64) -> Result<Plan, Refused> {
    let least = FEWEST_COMMITS.max(u64::from(BATCHES) * u64::from(parameters.sessions));
    if commits < least {
        return Err(Refused::Invalid(format!(
            "{commits} commits are too few to know a steady state by: at least {least}"
        )));
    }
    if let Load::Open { gap, burst } = &parameters.load {
        let rate = f64::from(*burst) / gap.mean();
        let demand = rate * parameters.transaction_cpu_s();
        if demand >= parameters.cpus {
            return Err(Refused::NoSteadyState(format!(
                "no steady state: {} units per second ask for {} CPUs of {}",
                general(rate),
                significant(demand, 3),
                general(parameters.cpus)
            )));
        }
    }
    let commits_per_batch = commits / u64::from(BATCHES);
    Ok(Plan { warm_up: commits / 10, batches: BATCHES, commits_per_batch })
}
