//! The elbow that bounds tell, without a simulation.

use crate::costs::calibration::Calibration;
use crate::costs::scenario::Scenario;
use crate::group_commit::parameters::Load;
use crate::queues::bounds::sessions_at_elbow;
use crate::refused::Refused;

/// Sessions at which the asymptotic bounds of throughput meet when every commit has a flush of its own: group commit
/// goes far beyond it.
///
/// Source: `sessions_at_elbow`.
///
/// # Errors
/// A setting that cannot be.
pub fn bounds_elbow(calibration: &Calibration, scenario: &Scenario) -> Result<f64, Refused> {
    let needs = calibration.needs_of(scenario)?;
    let servers = needs.cpus.ceil();
    let (flush_cpu_s, log_s) = if needs.asynchronous {
        (0.0, 0.0)
    } else {
        let bytes_s = needs.device_s_per_byte * needs.transaction_bytes();
        (needs.flush_cpu_s + needs.wake_s, needs.device.mean_s() + bytes_s)
    };
    let cpu_s = needs.transaction_cpu_s() + flush_cpu_s;
    let think_s = match &needs.load {
        Load::Closed { think } => think.mean_s(),
        Load::Open { .. } => 0.0,
    };
    sessions_at_elbow(&[(cpu_s * servers / needs.cpus, servers), (log_s, 1.0)], think_s)
}
