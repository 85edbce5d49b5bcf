//! What is forecast of a setting.

use crate::forecast::commits::commits_simulated;
use crate::group_commit::averages::SteadyState;
use crate::group_commit::simulate::simulate;
use crate::refused::Refused;
use redolab_sim::Parameters;

/// The seed of every forecast.
pub const SEED: u64 = 1;

/// Times of commits, from the request to the acknowledgement, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CommitTimes {
    /// Their mean.
    pub mean_ms: f64,
    /// Their median.
    pub p50_ms: f64,
    /// Their 95th percentile.
    pub p95_ms: f64,
    /// Their 99th percentile.
    pub p99_ms: f64,
}

/// A model's forecast of a setting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantities {
    /// Commits per second.
    pub throughput_per_s: f64,
    /// Mean time from the beginning of a transaction, or its arrival, to its end, in milliseconds.
    pub response_time_ms: f64,
    /// Its 95th percentile.
    pub response_time_ms_p95: f64,
    /// Share of the CPUs' time that they are busy.
    pub cpu_utilization: f64,
    /// Share of the time that a flush is under way; with two logs, that a device is busy.
    pub device_utilization: f64,
    /// None of commits that do not wait inside the server: what they spend is in the CPU time of their transaction.
    pub commit_time: Option<CommitTimes>,
    /// Commits that one flush of the first log serves; None where nothing was flushed.
    pub commits_per_flush: Option<f64>,
}

impl Quantities {
    /// What a steady state says.
    #[must_use]
    pub fn of(needs: &Parameters, state: &SteadyState) -> Self {
        let times = state.commit_time;
        let told = needs.statements > 0 || !needs.asynchronous;
        Self {
            throughput_per_s: state.throughput_per_s.point,
            response_time_ms: 1e3 * state.response_time.mean_s.point,
            response_time_ms_p95: 1e3 * state.response_time.p95_s.point,
            cpu_utilization: state.cpu_utilization.point,
            device_utilization: match needs.second {
                None => flushing(state),
                Some(_) => state.device_utilization.point,
            },
            commit_time: told.then_some(CommitTimes {
                mean_ms: 1e3 * times.mean_s.point,
                p50_ms: 1e3 * times.p50_s.point,
                p95_ms: 1e3 * times.p95_s.point,
                p99_ms: 1e3 * times.p99_s.point,
            }),
            commits_per_flush: state.commits_per_flush.map(|mean| mean.point),
        }
    }

    /// Those that there are, by name, in the order of the fields.
    #[must_use]
    pub fn named(&self) -> Vec<(&'static str, f64)> {
        let mut named = vec![
            ("throughput_per_s", self.throughput_per_s),
            ("response_time_ms", self.response_time_ms),
            ("response_time_ms_p95", self.response_time_ms_p95),
            ("cpu_utilization", self.cpu_utilization),
            ("device_utilization", self.device_utilization),
        ];
        if let Some(times) = self.commit_time {
            named.extend([
                ("commit_time_ms", times.mean_ms),
                ("commit_time_ms_p50", times.p50_ms),
                ("commit_time_ms_p95", times.p95_ms),
                ("commit_time_ms_p99", times.p99_ms),
            ]);
        }
        named.extend(self.commits_per_flush.map(|mean| ("commits_per_flush", mean)));
        named
    }
}

/// The group-commit model's forecast, simulated, while `wanted` says so.
///
/// # Errors
/// Those of `simulate`.
pub fn simulated(
    needs: &Parameters,
    commits: u64,
    wanted: impl FnMut() -> bool,
) -> Result<Quantities, Refused> {
    let state = simulate(needs, SEED, commits_simulated(needs, commits), wanted)?;
    Ok(Quantities::of(needs, &state))
}

/// As it is measured: a server counts the time in its calls, in which it waits for a CPU too.
fn flushing(state: &SteadyState) -> f64 {
    match (state.commits_per_flush, state.flush_time_s) {
        (Some(commits), Some(time)) => time.point * state.throughput_per_s.point / commits.point,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::costs::scenario::{Scenario, Waits};
    use crate::made_up::server;

    fn of(scenario: &Scenario) -> Result<Quantities, Refused> {
        simulated(&server().needs_of(scenario).unwrap(), 20_000, || true)
    }

    #[test]
    fn a_lone_session_takes_what_a_commit_and_a_flush_take() {
        let found = of(&Scenario::new(1)).unwrap();
        // CPU, cold caches, the flush on CPU and device, and what that takes longer for having idled.
        let expected_ms = 1e3 * (45e-6 + 7e-6 + 15e-6 + 1e-3 + 1e-4);
        assert!((found.response_time_ms / expected_ms - 1.0).abs() < 0.02, "{found:?}");
        assert!((found.commits_per_flush.unwrap() - 1.0).abs() < 1e-12);
        // Of a loop the throughput is sessions by response time.
        assert!((found.throughput_per_s * found.response_time_ms / 1e3 - 1.0).abs() < 0.01);
        assert_eq!(found.named().len(), 10);
        assert!(found.commit_time.unwrap().mean_ms < found.response_time_ms);
    }

    #[test]
    fn commits_that_do_not_wait_have_no_time_inside_the_server() {
        let found = of(&Scenario { commit_wait: Waits::Nothing, ..Scenario::new(2) }).unwrap();
        assert_eq!(found.commit_time, None);
        assert!(found.named().iter().all(|(name, _)| !name.starts_with("commit_time")));
    }

    #[test]
    fn what_has_no_steady_state_is_refused() {
        let refused = of(&Scenario { arrival_rate_per_s: Some(1e6), ..Scenario::new(8) });
        assert_eq!(
            refused.unwrap_err().to_string(),
            "no steady state: 1e+06 units per second ask for 45 CPUs of 1.6"
        );
        let refused = of(&Scenario { arrival_rate_per_s: Some(2e4), ..Scenario::new(1) });
        let text = refused.unwrap_err().to_string();
        assert!(text.contains("still had no session at the end"), "{text}");
        let needs = server().needs_of(&Scenario::new(100)).unwrap();
        let refused = simulated(&needs, 1_999, || true).unwrap_err();
        let text = "1999 commits are too few to know a steady state by: at least 2000".to_owned();
        assert_eq!(refused, Refused::Invalid(text));
        assert_eq!(simulated(&needs, 2_000, || false), Err(Refused::Unwanted));
    }
}
