//! What is taken for granted where costs were only seen of a server at work, and not measured one by one.

use crate::costs::assumptions::LEAST_S;
use crate::costs::calibration::{Calibration, SecondCosts};
use crate::costs::scenario::Scenario;
use redolab_sim::Distribution;
use redolab_sim::{Load, Parameters};

/// Sessions that together ask for less of the CPUs' time than this share of them leave them idle.
const IDLE: f64 = 0.02;

impl Calibration {
    /// These costs, and the setting, with the log device that is asked about in the costs.
    ///
    /// A calibration has measured what of a flush is no device's: the quickest of them, alone. Of a server at work that
    /// is not known, so all of the time is taken to be the device's, and another device to vary as this one does.
    pub(crate) fn on_device(&self, scenario: &Scenario, device_ms: f64) -> (Self, Scenario) {
        let mean_s = (device_ms / 1e3 - self.flush_cpu_s).max(LEAST_S);
        let factor = mean_s / self.flush_mean_s();
        let second = self.second.as_ref().map(|second| SecondCosts {
            flush_s: with_mean(&second.flush_s, mean_s),
            late_s: 0.0,
            ..second.clone()
        });
        let costs = Self {
            flush_s: with_mean(&self.flush_s, mean_s),
            device_s_per_byte: factor * self.device_s_per_byte,
            second,
            ..self.clone()
        };
        (costs, Scenario { log_device_ms: None, ..scenario.clone() })
    }
}

/// Whether sessions think so long that CPUs hardly have work: then none looks for work elsewhere, which would be all
/// that is simulated.
pub(crate) fn idles(needs: &Parameters) -> bool {
    let Load::Closed { think } = &needs.load else { return false };
    f64::from(needs.sessions) * needs.transaction_cpu_s() < IDLE * needs.cpus * think.mean()
}

fn with_mean(values_s: &[f64], mean_s: f64) -> Vec<f64> {
    let factor = mean_s / Distribution::Quantiles { values: values_s.to_vec() }.mean();
    values_s.iter().map(|value| factor * value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::{server, two_logs};

    fn near(one: f64, other: f64) -> bool {
        (one / other - 1.0).abs() < 1e-12
    }

    fn seen() -> Calibration {
        Calibration { only_seen: true, ..server() }
    }

    fn on(device_ms: f64) -> Scenario {
        Scenario { log_device_ms: Some(device_ms), ..Scenario::new(8) }
    }

    #[test]
    fn another_device_varies_as_the_one_that_was_seen() {
        let two_logs = Calibration { only_seen: true, ..two_logs() };
        for device_ms in [0.5, 5.0] {
            let (costs, scenario) = two_logs.on_device(&on(device_ms), device_ms);
            assert_eq!(scenario, Scenario::new(8));
            assert!(near(costs.flush_mean_s() + costs.flush_cpu_s, device_ms / 1e3));
            assert!(near(costs.flush_s[1] / costs.flush_s[0], 1.5));
            let second = costs.second.as_ref().unwrap();
            assert!(near(second.flush_s[0] + second.flush_s[1], 2.0 * costs.flush_mean_s()));
            assert!(second.late_s.abs() < 1e-300);
        }
    }

    #[test]
    fn measured_costs_promise_no_quicker_flush() {
        let (was_seen, was_measured) =
            (seen().needs_of(&on(0.5)).unwrap(), server().needs_of(&on(0.5)).unwrap());
        assert!(near(was_seen.device.mean(), 0.5e-3 - 15e-6));
        assert!(near(was_measured.device.mean(), 0.8e-3));
        assert!(!seen().prior_holds() && server().prior_holds());
    }

    #[test]
    fn nobody_looks_for_work_where_there_is_hardly_any() {
        let thinking = |think_time_ms| Scenario { think_time_ms, ..Scenario::new(8) };
        let balance_s = |costs: &Calibration, scenario: &Scenario| {
            costs.needs_of(scenario).unwrap().balance_s.s()
        };
        // Eight transactions of 55 us in a pause are 2 % of 1.6 CPUs where the pause takes 13.75 ms.
        assert!(balance_s(&seen(), &thinking(14.0)).abs() < 1e-300);
        assert!(balance_s(&seen(), &thinking(13.5)) > 0.0);
        assert!(balance_s(&server(), &thinking(14.0)) > 0.0);
        let arrivals = Scenario { arrival_rate_per_s: Some(1.0), ..Scenario::new(8) };
        assert!(balance_s(&seen(), &arrivals) > 0.0);
    }
}
