//! From costs and a setting to what the group-commit model is told.

use crate::costs::assumptions::{
    BALANCE_S, COMMIT_SIBLINGS, CPU_CV, DEVICE_WRITE_S, FETCH_BELOW, HALT_AFTER_S, HALT_EXIT_S,
    IDLE_EXIT_S, INNODB_FLUSH_INTERVAL_S, INTERRUPT_S, LEAST_S, POST_SHARE, QUANTUM_S,
    TIMER_SLACK_S, WAKE_SHARE, WAL_WRITER_DELAY_S, WAL_WRITER_FLUSH_AFTER_BYTES, client_threads,
    spread_below, statements_of,
};
use crate::costs::calibration::{Calibration, SecondCosts};
use crate::costs::curve::{per_session, with_sessions};
use crate::costs::scenario::{Scenario, Waits};
use crate::costs::seen::idles;
use crate::refused::Refused;
use redolab_sim::{Distribution, Load, Parameters, SecondLog, Span};

impl Calibration {
    /// What the group-commit model needs for `scenario`.
    ///
    /// Another log device is taken to need the same time for every flush of either log, CPU time included. Where costs
    /// were only seen, it is taken to vary as the one that was.
    ///
    /// # Errors
    /// Something that cannot be, named; rows per commit whose cost was not measured; or logs that there are not.
    pub fn needs_of(&self, scenario: &Scenario) -> Result<Parameters, Refused> {
        let needs = match scenario.log_device_ms {
            Some(device_ms) if self.only_seen => {
                let (costs, scenario) = self.on_device(scenario, device_ms);
                costs.needs_with_its_device(&scenario)?
            }
            _ => self.needs_with_its_device(scenario)?,
        };
        Ok(if self.only_seen && idles(&needs) {
            Parameters { balance_s: Span::default(), ..needs }
        } else {
            needs
        })
    }

    fn needs_with_its_device(&self, scenario: &Scenario) -> Result<Parameters, Refused> {
        if scenario.rows_per_commit > 1 && !self.row_known {
            return Err(Refused::Invalid(
                "the run measured one row per commit alone, so the cost of a row is not known: calibrate with \
                 several (`redolab run calibrate`)"
                    .to_owned(),
            ));
        }
        let logs = self.logs(scenario)?;
        let sessions = count("sessions", scenario.sessions)?;
        let rows = count("rows", scenario.rows_per_commit)?;
        let of_client = if self.in_client { statements_of(scenario.rows_per_commit) } else { 0 };
        let statements = count("statements", of_client)?;
        let cpus = scenario.cpus.unwrap_or_else(|| f64::from(self.cpus));
        // Of a pool for arrivals few work at a time, and each more makes the others' work dearer.
        let working = if scenario.arrival_rate_per_s.is_none() { sessions } else { 1 };
        let factor = scenario.cpu_factor;
        let transaction_s = factor * with_sessions(&self.transaction_cpu_s, working, cpus);
        let each_row_s = factor * with_sessions(&self.row_cpu_s, working, cpus);
        // BEGIN and COMMIT are statements of their own, of about the cost of another row.
        let more_rows = f64::from(rows.max(statements)) - 1.0;
        let beside_rows_s = transaction_s + (more_rows - f64::from(rows)) * each_row_s;
        let shared = f64::from(sessions) > cpus;
        let waits = scenario.commit_wait != Waits::Nothing;
        let (commit_delay_s, pause_s) = self.pauses(scenario, logs.second.is_some())?;
        let writer = self.writer(waits);
        let available = if waits { self.available_waiting } else { self.available };
        let needs = Parameters {
            sessions,
            load: load(scenario),
            cpus: if shared { cpus * available } else { cpus },
            quantum_s: QUANTUM_S.into(),
            rows,
            row_cpu: Distribution::Gamma { mean: each_row_s.max(LEAST_S), cv: CPU_CV },
            commit_cpu: Distribution::Gamma { mean: beside_rows_s.max(LEAST_S), cv: CPU_CV },
            contention_s: if scenario.arrival_rate_per_s.is_some() {
                self.contention_s(factor, more_rows, f64::from(statements))
            } else {
                0.0
            },
            row_bytes: self.row_bytes.max(0.0),
            commit_bytes: self.commit_bytes.max(1.0),
            flush_cpu_s: self.flush_cpu_s(logs.first.flush_cpu_s).into(),
            device: logs.first.device(scenario.log_device_ms),
            device_s_per_byte: self.device_s_per_byte,
            device_after_idle_s: match scenario.log_device_ms {
                None => {
                    let spans = |&(idle, more): &(f64, f64)| (idle.into(), more.into());
                    self.after_idle_s.iter().map(spans).collect()
                }
                Some(_) => Vec::new(),
            },
            device_write_s: DEVICE_WRITE_S.into(),
            device_paced: self.emulated || scenario.log_device_ms.is_some_and(|ms| ms != 0.0),
            device_cpu: self.one_interrupt.then_some(0),
            interrupt_s: INTERRUPT_S.into(),
            wake_s: (WAKE_SHARE * self.wake_s).into(),
            post_s: (POST_SHARE * self.wake_s).into(),
            // Who has a CPU to himself finds his caches as he left them; what a wait costs him is in `cold_s`. In a
            // pool others had the CPU meanwhile, however few work at a time.
            served_s: if shared { with_sessions(&self.served_s, sessions, cpus) } else { 0.0 }
                .into(),
            idle_exit_s: IDLE_EXIT_S.into(),
            halt_exit_s: HALT_EXIT_S.into(),
            halt_after_s: HALT_AFTER_S.into(),
            cold_s: self.cold_s.into(),
            own_queues: true,
            spread_below: spread_below(cpus),
            fetch_below: FETCH_BELOW,
            balance_s: BALANCE_S.into(),
            statements,
            client_threads: client_threads(cpus),
            client_s: with_sessions(&self.client_s, working, cpus).into(),
            client_wake_s: self.client_wake_s.into(),
            hand_over_exit_s: self.hand_over_exit_s.into(),
            handed_on: self.handed_on,
            second: logs.second.map(|second| SecondLog {
                flush_cpu_s: self.flush_cpu_s(second.flush_cpu_s).into(),
                device: Flush::of(second).device(scenario.log_device_ms),
                own_device: second.own_device,
                // Another device's time is without it.
                late_s: if scenario.log_device_ms.is_none() { second.late_s } else { 0.0 }.into(),
                in_groups: second.in_groups,
                pause_s: pause_s.into(),
                enough: sessions,
            }),
            commit_delay_s: commit_delay_s.into(),
            commit_siblings: COMMIT_SIBLINGS,
            asynchronous: !waits,
            writer_interval_s: writer.0.into(),
            writer_bytes: writer.1,
            ..Parameters::default()
        };
        needs.check()?;
        Ok(needs)
    }

    /// CPU time of a transaction for each other session at work.
    fn contention_s(&self, factor: f64, more_rows: f64, statements: f64) -> f64 {
        factor * per_session(&self.transaction_cpu_s)
            + factor * more_rows * per_session(&self.row_cpu_s)
            + statements * per_session(&self.client_s)
    }

    /// CPU time of a flush beside waking up after it.
    fn flush_cpu_s(&self, flush_cpu_s: f64) -> f64 {
        (flush_cpu_s - WAKE_SHARE * self.wake_s).max(0.0)
    }

    /// The logs that the commits of a setting wait for.
    fn logs(&self, scenario: &Scenario) -> Result<Logs<'_>, Refused> {
        let first = Flush { flush_s: &self.flush_s, flush_cpu_s: self.flush_cpu_s };
        let second = self.second.as_ref();
        match (scenario.commit_wait, second) {
            (Waits::All, _) => Ok(Logs { first, second }),
            (Waits::Nothing, _) | (Waits::First, Some(_)) => Ok(Logs { first, second: None }),
            (Waits::Second, Some(second)) => Ok(Logs { first: Flush::of(second), second: None }),
            (one, None) => Err(Refused::Invalid(format!(
                "commit_wait is {}; commits of this server wait for one log, so it is wait or nowait",
                one.word()
            ))),
        }
    }

    /// How long leaders sleep: before a flush of the first log, and before one of the second.
    fn pauses(&self, scenario: &Scenario, two_logs: bool) -> Result<(f64, f64), Refused> {
        let pause_s = commit_delay_s(scenario.commit_delay_us);
        if two_logs {
            Ok((0.0, pause_s))
        } else if !self.handed_on || scenario.commit_delay_us == 0 {
            Ok((pause_s, 0.0))
        } else {
            Err(Refused::Invalid(
                "commit_delay_us asks for a pause, and this server has one where commits wait for redo log and \
                 binary log alone"
                    .to_owned(),
            ))
        }
    }

    /// When the log is flushed for which no commit waits: after how long, and after how many bytes.
    fn writer(&self, waits: bool) -> (f64, u32) {
        match (waits, self.handed_on) {
            (true, _) => (0.0, 0),
            (false, false) => (WAL_WRITER_DELAY_S, WAL_WRITER_FLUSH_AFTER_BYTES),
            (false, true) => (INNODB_FLUSH_INTERVAL_S, 0),
        }
    }
}

/// The logs that commits wait for, one after the other.
struct Logs<'a> {
    first: Flush<'a>,
    second: Option<&'a SecondCosts>,
}

/// What a flush of one log costs.
#[derive(Clone, Copy)]
struct Flush<'a> {
    flush_s: &'a [f64],
    flush_cpu_s: f64,
}

impl<'a> Flush<'a> {
    fn of(second: &'a SecondCosts) -> Self {
        Self { flush_s: &second.flush_s, flush_cpu_s: second.flush_cpu_s }
    }

    fn device(self, log_device_ms: Option<f64>) -> Distribution {
        let Some(ms) = log_device_ms else {
            return Distribution::Quantiles { values: self.flush_s.to_vec() };
        };
        let quickest = self.flush_s.iter().copied().fold(f64::INFINITY, f64::min);
        Distribution::Constant { mean: (ms / 1e3 - self.flush_cpu_s).max(quickest) }
    }
}

fn load(scenario: &Scenario) -> Load {
    match scenario.arrival_rate_per_s {
        Some(rate) => Load::Open { gap: Distribution::Exponential { mean: 1.0 / rate }, burst: 1 },
        None if scenario.think_time_ms == 0.0 => Load::Closed { think: Distribution::NOTHING },
        None => {
            Load::Closed { think: Distribution::Exponential { mean: scenario.think_time_ms / 1e3 } }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "nobody sleeps 2^53 microseconds")]
fn commit_delay_s(commit_delay_us: i64) -> f64 {
    if commit_delay_us == 0 { 0.0 } else { commit_delay_us as f64 / 1e6 + TIMER_SLACK_S }
}

/// A whole number as the simulator has it.
fn count(name: &str, value: i64) -> Result<u32, Refused> {
    u32::try_from(value).map_err(|_| {
        Refused::Invalid(format!("{name} is {value}; it must be 0 or more, and below 2^32"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::server;

    fn near(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-15
    }

    #[test]
    fn sessions_that_share_cpus_have_what_others_leave() {
        let needs = server().needs_of(&Scenario::new(8)).unwrap();
        assert!(near(needs.cpus, 1.6) && near(needs.served_s.s(), 3e-6));
        assert!(near(needs.commit_cpu.mean() + needs.row_cpu.mean(), 55e-6));
        assert!(near(needs.transaction_cpu_s(), 55e-6));
        assert!(near(needs.transaction_bytes(), 210.0));
        let needs = server()
            .needs_of(&Scenario { commit_wait: Waits::Nothing, ..Scenario::new(8) })
            .unwrap();
        assert!(near(needs.cpus, 1.8) && needs.asynchronous);
        let alone = server().needs_of(&Scenario::new(1)).unwrap();
        assert!(near(alone.cpus, 2.0) && near(alone.served_s.s(), 0.0));
        assert!(near(alone.transaction_cpu_s(), 45e-6 + 7e-6));
    }

    #[test]
    fn a_client_sends_begin_and_commit_as_well() {
        let client = Calibration { in_client: true, client_s: vec![(1, 12e-6)], ..server() };
        let needs = client.needs_of(&Scenario { rows_per_commit: 4, ..Scenario::new(8) }).unwrap();
        assert_eq!((needs.rows, needs.statements, needs.client_threads), (4, 6, 2));
        // The transaction of one row, and five statements more.
        assert!(near(needs.transaction_cpu_s(), 55e-6 + 5.0 * 6e-6 + 6.0 * 12e-6));
    }

    #[test]
    fn arrivals_keep_few_at_work_who_slow_each_other_down() {
        let scenario = Scenario { arrival_rate_per_s: Some(100.0), ..Scenario::new(64) };
        let needs = server().needs_of(&scenario).unwrap();
        assert!(near(needs.contention_s, 2e-6));
        assert!(near(needs.transaction_cpu_s(), 45e-6));
        assert!(matches!(needs.load, Load::Open { burst: 1, .. }));
    }

    #[test]
    fn another_device_is_not_quicker_than_the_quickest_flush() {
        let with = |ms| {
            let scenario = Scenario { log_device_ms: Some(ms), ..Scenario::new(8) };
            server().needs_of(&scenario).unwrap()
        };
        assert!(near(with(5.0).device.mean(), 5e-3 - 15e-6));
        assert!(near(with(0.0).device.mean(), 0.8e-3));
        assert!(with(5.0).device_paced && !with(0.0).device_paced);
        assert_eq!(with(5.0).device_after_idle_s, []);
    }

    #[test]
    fn what_is_not_known_or_cannot_be_is_refused() {
        let unknown = Calibration { row_known: false, ..server() };
        let refused = unknown.needs_of(&Scenario { rows_per_commit: 2, ..Scenario::new(8) });
        assert!(refused.unwrap_err().to_string().contains("the cost of a row is not known"));
        assert!(unknown.needs_of(&Scenario::new(8)).is_ok());
        let refused = server().needs_of(&Scenario::new(1 << 32)).unwrap_err().to_string();
        assert_eq!(refused, "sessions is 4294967296; it must be 0 or more, and below 2^32");
        let refused = server().needs_of(&Scenario { cpus: Some(1e-6), ..Scenario::new(8) });
        assert!(refused.unwrap_err().to_string().starts_with("CPUs: there must be at least 0.001"));
    }
}
