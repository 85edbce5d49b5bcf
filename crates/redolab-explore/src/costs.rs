//! Costs and settings as numbers.

use redolab_forecast::{Calibration, Refused, Scenario};

use crate::numbers::{Numbers, flag, write_list, write_pairs};

/// A calibration, its fields in the order in which they are declared.
pub fn write_calibration(to: &mut Vec<f64>, costs: &Calibration) {
    let curve = |to: &mut Vec<f64>, curve: &[(u32, f64)]| {
        write_pairs(to, curve.iter().map(|&(sessions, cost)| (f64::from(sessions), cost)));
    };
    to.extend([flag(costs.in_client), f64::from(costs.cpus)]);
    curve(to, &costs.transaction_cpu_s);
    curve(to, &costs.row_cpu_s);
    to.extend([costs.flush_cpu_s, costs.wake_s, costs.commit_bytes, costs.row_bytes]);
    write_list(to, &costs.flush_s);
    to.push(costs.device_s_per_byte);
    write_pairs(to, costs.after_idle_s.iter().copied());
    curve(to, &costs.client_s);
    to.extend([costs.client_wake_s, costs.hand_over_exit_s]);
    curve(to, &costs.served_s);
    to.extend([costs.available, costs.available_waiting, costs.cold_s]);
    to.extend([costs.emulated, costs.one_interrupt, costs.row_known].map(flag));
}

/// The same, read.
///
/// # Errors
/// Numbers that are no calibration.
pub fn read_calibration(from: &mut Numbers<'_>) -> Result<Calibration, Refused> {
    // Fields are read in the order in which they stand here.
    Ok(Calibration {
        in_client: from.flag()?,
        cpus: from.small()?,
        transaction_cpu_s: from.curve()?,
        row_cpu_s: from.curve()?,
        flush_cpu_s: from.next()?,
        wake_s: from.next()?,
        commit_bytes: from.next()?,
        row_bytes: from.next()?,
        flush_s: from.list()?,
        device_s_per_byte: from.next()?,
        after_idle_s: from.pairs()?,
        client_s: from.curve()?,
        client_wake_s: from.next()?,
        hand_over_exit_s: from.next()?,
        served_s: from.curve()?,
        available: from.next()?,
        available_waiting: from.next()?,
        cold_s: from.next()?,
        emulated: from.flag()?,
        one_interrupt: from.flag()?,
        row_known: from.flag()?,
    })
}

/// A setting: nine numbers, its factors in the order in which they are declared; no number for None.
#[expect(clippy::cast_precision_loss, reason = "read back, they must be whole")]
pub fn write_scenario(to: &mut Vec<f64>, scenario: &Scenario) {
    to.extend([
        scenario.sessions as f64,
        scenario.rows_per_commit as f64,
        flag(scenario.commit_waits),
        scenario.commit_delay_us as f64,
        scenario.log_device_ms.unwrap_or(f64::NAN),
        scenario.cpus.unwrap_or(f64::NAN),
        scenario.think_time_ms,
        scenario.arrival_rate_per_s.unwrap_or(f64::NAN),
        scenario.cpu_factor,
    ]);
}

/// The same, read and checked.
///
/// # Errors
/// Numbers that are no setting, or a setting that cannot be.
pub fn read_scenario(from: &mut Numbers<'_>) -> Result<Scenario, Refused> {
    let scenario = Scenario {
        sessions: from.whole()?,
        rows_per_commit: from.whole()?,
        commit_waits: from.flag()?,
        commit_delay_us: from.whole()?,
        log_device_ms: from.optional()?,
        cpus: from.optional()?,
        think_time_ms: from.next()?,
        arrival_rate_per_s: from.optional()?,
        cpu_factor: from.next()?,
    };
    scenario.check()?;
    Ok(scenario)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_the_same_when_read_again() {
        let usual = Scenario::new(8);
        for scenario in [
            usual.clone(),
            Scenario {
                commit_waits: false,
                commit_delay_us: 50,
                rows_per_commit: 32,
                ..usual.clone()
            },
            Scenario {
                log_device_ms: Some(0.5),
                cpus: Some(7.3),
                think_time_ms: 2.9,
                ..usual.clone()
            },
            Scenario { arrival_rate_per_s: Some(1_234.5), cpu_factor: 0.95, ..usual.clone() },
        ] {
            let mut numbers = Vec::new();
            write_scenario(&mut numbers, &scenario);
            assert_eq!(numbers.len(), 9);
            assert_eq!(read_scenario(&mut Numbers::new(&numbers)), Ok(scenario));
        }
        let mut numbers = Vec::new();
        write_scenario(&mut numbers, &Scenario { sessions: 0, ..usual });
        let refused = read_scenario(&mut Numbers::new(&numbers)).unwrap_err().to_string();
        assert_eq!(refused, "sessions is 0; it must be at least 1");
    }
}
