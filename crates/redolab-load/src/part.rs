//! The job that the sessions are given, and each one's part of it.

use std::time::Duration;

use crate::amount::Amount;
use crate::arguments::Argument;
use crate::arrivals::{Arrivals, Schedule};

/// What every session does over and over: transactions, each committed.
#[derive(Clone, Debug)]
pub struct Job {
    /// In the protocol's own placeholders (`$1` or `?`); `{session}` in it stands for the session's number, from 0.
    pub statement: String,
    /// What the placeholders stand for.
    pub arguments: Vec<Argument>,
    /// Of the random keys among the arguments.
    pub seed: u64,
    /// How the statement is executed.
    pub how: How,
    /// Rows to a commit, each by the statement; a lone one is a transaction of its own, without BEGIN and COMMIT.
    pub rows_per_commit: u32,
    /// What each transaction sets for itself first: names and values of parameters.
    pub parameters: Vec<(String, String)>,
    /// How much.
    pub amount: Amount,
    /// How long a session waits after each commit before it begins its next transaction; not with `arrivals`.
    pub pause: Duration,
    /// When transactions are asked for; without it every session begins its next one by itself.
    pub arrivals: Option<Arrivals>,
    /// Executed once in each session after its part.
    pub afterwards: Vec<String>,
}

/// How a job's statement is executed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum How {
    /// Prepared once, and executed with arguments for each row.
    Prepared,
    /// As the user's own text, of several statements perhaps, between BEGIN and COMMIT; what it returns is dropped.
    Text,
}

impl Job {
    /// The statement as the session `number` executes it.
    pub(crate) fn statement_of(&self, number: usize) -> String {
        self.statement.replace("{session}", &number.to_string())
    }

    /// Whether a transaction is one statement that commits by itself.
    pub(crate) fn is_lone_statement(&self) -> bool {
        self.rows_per_commit == 1 && self.parameters.is_empty() && self.how == How::Prepared
    }
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
    use super::*;

    impl Job {
        /// A prepared statement without arguments.
        pub(crate) fn of(statement: &str, rows: u64) -> Self {
            Self {
                statement: statement.to_owned(),
                arguments: Vec::new(),
                seed: 1,
                how: How::Prepared,
                rows_per_commit: 1,
                parameters: Vec::new(),
                amount: Amount::Rows(rows),
                pause: Duration::ZERO,
                arrivals: None,
                afterwards: Vec::new(),
            }
        }
    }

    #[test]
    fn a_statement_may_name_the_session() {
        let job = Job::of("update own_{session} set n = n + 1", 1);
        assert_eq!(job.statement_of(12), "update own_12 set n = n + 1");
    }

    #[test]
    fn only_a_prepared_statement_alone_commits_by_itself() {
        assert!(Job::of("", 1).is_lone_statement());
        for job in [
            Job { rows_per_commit: 2, ..Job::of("", 1) },
            Job { how: How::Text, ..Job::of("", 1) },
            Job { parameters: vec![(String::new(), String::new())], ..Job::of("", 1) },
        ] {
            assert!(!job.is_lone_statement(), "{job:?}");
        }
    }

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
