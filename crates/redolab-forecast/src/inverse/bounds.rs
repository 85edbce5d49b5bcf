//! The elbow that bounds tell, without a simulation.

use crate::costs::calibration::Calibration;
use crate::costs::scenario::Scenario;
use crate::queues::bounds::sessions_at_elbow;
use crate::refused::Refused;
use redolab_sim::Load;

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
    let mut cpu_s = needs.transaction_cpu_s();
    let mut devices_s = [0.0, 0.0];
    if !needs.asynchronous {
        let bytes_s = needs.device_s_per_byte * needs.transaction_bytes();
        cpu_s += needs.flush_cpu_s.s() + needs.wake_s.s();
        devices_s[0] = needs.device.mean() + bytes_s;
        if let Some(second) = &needs.second {
            cpu_s += second.flush_cpu_s.s() + needs.wake_s.s();
            devices_s[usize::from(second.own_device)] += second.device.mean();
        }
    }
    let think_s = match &needs.load {
        Load::Closed { think } => think.mean(),
        Load::Open { .. } => 0.0,
    };
    let [log_s, other_log_s] = devices_s;
    let stations = [(cpu_s * servers / needs.cpus, servers), (log_s, 1.0), (other_log_s, 1.0)];
    let devices = if other_log_s > 0.0 { 2 } else { 1 };
    sessions_at_elbow(&stations[..=devices], think_s)
}
