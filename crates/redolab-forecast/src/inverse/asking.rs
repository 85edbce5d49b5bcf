//! The model, asked for one setting after the other.

use crate::costs::calibration::Calibration;
use crate::costs::scenario::Scenario;
use crate::forecast::quantities::SEED;
use crate::group_commit::averages::SteadyState;
use crate::group_commit::simulate::simulate;
use crate::refused::Refused;

/// How exact an answer is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// As the answer itself.
    Full,
    /// As one of the many answers of resampled calibrations.
    Quick,
}

/// A calibration that is asked, while whoever asked still wants to know.
pub struct Asking<'a> {
    /// The costs.
    pub calibration: &'a Calibration,
    /// Whether to go on; asked every now and then.
    pub wanted: &'a mut dyn FnMut() -> bool,
}

impl Asking<'_> {
    /// What is simulated of a setting.
    ///
    /// # Errors
    /// Those of `simulate`, and a setting that cannot be.
    pub(crate) fn state(
        &mut self,
        scenario: &Scenario,
        commits: u64,
    ) -> Result<SteadyState, Refused> {
        let needs = self.calibration.needs_of(scenario)?;
        simulate(&needs, SEED, commits, &mut *self.wanted)
    }

    /// Its commits per second.
    ///
    /// # Errors
    /// The same.
    pub(crate) fn throughput(&mut self, scenario: &Scenario, commits: u64) -> Result<f64, Refused> {
        Ok(self.state(scenario, commits)?.throughput_per_s.point)
    }
}

/// At least so many commits in all, and of each session.
pub(crate) fn at_least(commits: u64, each: u64, scenario: &Scenario) -> u64 {
    let sessions = u64::try_from(scenario.sessions).unwrap_or(0);
    commits.max(each.saturating_mul(sessions))
}
