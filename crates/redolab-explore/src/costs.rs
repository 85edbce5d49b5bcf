//! Costs and settings as numbers.

use redolab_forecast::{Calibration, Refused, Scenario, SecondCosts, Waits};

use crate::numbers::{Numbers, flag, length, write_list, write_pairs};

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
    to.extend([costs.emulated, costs.one_interrupt, costs.row_known, costs.handed_on].map(flag));
    to.push(flag(costs.second.is_some()));
    if let Some(second) = &costs.second {
        to.extend([second.flush_cpu_s, second.late_s]);
        write_list(to, &second.flush_s);
        to.extend([second.own_device, second.in_groups].map(flag));
    }
    to.push(flag(costs.only_seen));
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
        handed_on: from.flag()?,
        second: if from.flag()? { Some(read_second(from)?) } else { None },
        only_seen: from.flag()?,
    })
}

fn read_second(from: &mut Numbers<'_>) -> Result<SecondCosts, Refused> {
    Ok(SecondCosts {
        flush_cpu_s: from.next()?,
        late_s: from.next()?,
        flush_s: from.list()?,
        own_device: from.flag()?,
        in_groups: from.flag()?,
    })
}

/// A setting: nine numbers, its factors in the order in which they are declared; no number for None.
#[expect(clippy::cast_precision_loss, reason = "read back, they must be whole")]
pub fn write_scenario(to: &mut Vec<f64>, scenario: &Scenario) {
    to.extend([
        scenario.sessions as f64,
        scenario.rows_per_commit as f64,
        place_of_word(scenario.commit_wait.word()),
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
        commit_wait: read_waits(from)?,
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

/// The place of a word of `Waits`, as it stands on a page.
pub fn place_of_word(word: &str) -> f64 {
    let place = Waits::WORDS.iter().position(|(_, known)| *known == word);
    place.map_or(f64::NAN, length)
}

fn read_waits(from: &mut Numbers<'_>) -> Result<Waits, Refused> {
    let number = from.small()?;
    let known = Waits::WORDS.get(number as usize).map(|(waits, _)| *waits);
    known.ok_or_else(|| {
        Refused::Invalid(format!("the page's numbers are damaged: no commit waits for {number}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use redolab_forecast::made_up::{server, two_logs};

    #[test]
    fn settings_are_the_same_when_read_again() {
        let usual = Scenario::new(8);
        for scenario in [
            usual.clone(),
            Scenario {
                commit_wait: Waits::Nothing,
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
            Scenario { commit_wait: Waits::First, ..usual.clone() },
            Scenario { commit_wait: Waits::Second, ..usual.clone() },
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
        numbers[2] = 4.0;
        let refused = read_scenario(&mut Numbers::new(&numbers)).unwrap_err().to_string();
        assert!(refused.ends_with("no commit waits for 4"), "{refused}");
    }

    #[test]
    fn costs_of_two_logs_are_the_same_when_read_again() {
        let seen = Calibration { only_seen: true, ..two_logs() };
        for costs in [server(), two_logs(), seen] {
            let mut numbers = Vec::new();
            write_calibration(&mut numbers, &costs);
            let from = &mut Numbers::new(&numbers);
            assert_eq!(read_calibration(from), Ok(costs));
            assert_eq!(from.end(), Ok(()));
        }
    }
}
