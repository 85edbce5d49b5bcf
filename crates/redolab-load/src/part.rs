//! The job that the sessions are given, and each one's part of it.

use crate::amount::Amount;
use crate::arrivals::{Arrivals, Schedule};

/// What every session does: insert rows, and commit.
#[derive(Clone, Debug)]
pub struct Job {
    /// A single-row INSERT with the session's number (int4), the row's number (int8) and a filler (text).
    pub statement: String,
    /// The filler.
    pub padding: String,
    /// Rows to a commit; a lone row is a transaction of its own, without BEGIN and COMMIT.
    pub rows_per_commit: u32,
    /// What each transaction sets for itself first: names and values of parameters.
    pub parameters: Vec<(String, String)>,
    /// How much.
    pub amount: Amount,
    /// When transactions are asked for; without it every session begins its next one at once.
    pub arrivals: Option<Arrivals>,
    /// Executed once in each session after its part.
    pub afterwards: Vec<String>,
}

/// A job, and what all sessions that do it have in common.
pub(crate) struct Task {
    pub(crate) job: Job,
    /// How many sessions.
    pub(crate) sessions: usize,
    pub(crate) schedule: Option<Schedule>,
}

impl Task {
    pub(crate) fn new(job: Job, sessions: usize) -> Self {
        let schedule = job
            .arrivals
            .map(|arrivals| Schedule::new(arrivals, job.amount, job.rows_per_commit, sessions));
        Self { job, sessions, schedule }
    }
}

/// Rows of the session `number` (from 0) out of `rows` that `sessions` do together; the first ones do
/// one more where the rows cannot be divided evenly.
pub(crate) fn share(rows: u64, sessions: usize, number: usize) -> u64 {
    let (sessions, number) = (sessions as u64, number as u64);
    rows / sessions + u64::from(number < rows % sessions)
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn the_shares_make_the_whole_and_differ_by_one_at_most() {
        for (rows, sessions) in [(320_000, 32), (10, 3), (2, 5), (0, 4), (7, 1)] {
            let shares: Vec<u64> = (0..sessions).map(|n| share(rows, sessions, n)).collect();
            assert_eq!(shares.iter().sum::<u64>(), rows);
            assert!(shares.iter().max().unwrap() - shares.iter().min().unwrap() <= 1);
            assert!(shares.is_sorted_by(|a, b| a >= b), "the first do more: {shares:?}");
        }
    }
}
