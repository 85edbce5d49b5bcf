//! How many commits are simulated for a forecast.

use crate::group_commit::plan::BATCHES;
use redolab_sim::Parameters;

/// From so many statements on a client's transactions are long.
const LONG_STATEMENTS: u32 = 60;
const MOST: u64 = 2_000_000;

/// How much is simulated at least.
struct Least {
    commits: u64,
    /// Commits of each session.
    each: f64,
    /// Rounds in which every session has its turn on a CPU.
    rounds: f64,
}

const OF_POINT: Least = Least { commits: 20_000, each: 150.0, rounds: 20.0 };
const OF_REPLICATE: Least = Least { commits: 5_000, each: 50.0, rounds: 4.0 };

/// Commits that a forecast asks for: from the calibration, and from each of its replicates.
#[must_use]
pub fn commits_of_forecast(needs: &Parameters) -> (u64, u64) {
    (asked(needs, &OF_POINT), asked(needs, &OF_REPLICATE))
}

/// Commits that are simulated of those asked for: a client's long transactions are simulated statement by statement,
/// and of them a quarter says enough.
#[must_use]
pub fn commits_simulated(needs: &Parameters, commits: u64) -> u64 {
    if needs.statements > LONG_STATEMENTS {
        (commits / 4).max(u64::from(BATCHES) * u64::from(needs.sessions))
    } else {
        commits
    }
}

#[expect(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "bounded right after")]
fn asked(needs: &Parameters, least: &Least) -> u64 {
    let each = least.each.max(least.rounds * commits_of_a_turn(needs));
    let of_all = (f64::from(needs.sessions) * each).round_ties_even() as u64;
    least.commits.max(of_all).min(MOST)
}

/// Commits of a session until another one has its CPU: many where commits wait for nothing.
fn commits_of_a_turn(needs: &Parameters) -> f64 {
    let transaction_s = needs.transaction_cpu_s();
    if needs.asynchronous && transaction_s != 0.0 {
        needs.quantum_s.s() / transaction_s
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::costs::scenario::{Scenario, Waits};
    use crate::made_up::server;

    fn needs(scenario: &Scenario) -> Parameters {
        server().needs_of(scenario).unwrap()
    }

    #[test]
    fn many_sessions_need_many_commits() {
        assert_eq!(commits_of_forecast(&needs(&Scenario::new(8))), (20_000, 5_000));
        assert_eq!(commits_of_forecast(&needs(&Scenario::new(1_000))), (150_000, 50_000));
        assert_eq!(commits_of_forecast(&needs(&Scenario::new(99_999))).0, MOST);
        let nowait = Scenario { commit_wait: Waits::Nothing, ..Scenario::new(64) };
        // A transaction takes 167 us: 64 sessions have a turn after 23.95 commits of each.
        assert_eq!(commits_of_forecast(&needs(&nowait)), (30_659, 6_132));
    }

    #[test]
    fn of_long_transactions_fewer_are_simulated() {
        let client = crate::costs::calibration::Calibration { in_client: true, ..server() };
        let simulated = |sessions, rows_per_commit| {
            let scenario = Scenario { rows_per_commit, ..Scenario::new(sessions) };
            commits_simulated(&client.needs_of(&scenario).unwrap(), 20_000)
        };
        assert_eq!(
            [simulated(8, 58), simulated(8, 59), simulated(600, 64)],
            [20_000, 5_000, 12_000]
        );
    }
}
