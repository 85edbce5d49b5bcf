//! What came of a job.

use std::time::Duration;

use crate::latency::Latency;

/// What one session did.
#[derive(Clone, Debug, Default)]
pub struct SessionReport {
    /// The session, from 0.
    pub number: usize,
    /// Transactions acknowledged.
    pub commits: u64,
    /// Rows in them.
    pub rows: u64,
    /// Statements that inserted no row.
    pub failed: u64,
    /// From the first statement to the last acknowledgement.
    pub elapsed: Duration,
    /// Why the session gave up.
    pub trouble: Option<String>,
}

/// What all sessions did.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// In the order of their numbers.
    pub sessions: Vec<SessionReport>,
    /// From sending the first statement of a transaction to its acknowledgement, all sessions together.
    pub latency: Latency,
    /// CPU of the client: the threads that drive the sessions.
    pub cpu: Duration,
    /// Whether the sessions were stopped before their work was done.
    pub interrupted: bool,
}

impl Report {
    /// Add what the sessions of another thread did.
    pub(crate) fn merge(&mut self, other: Self) {
        self.sessions.extend(other.sessions);
        self.sessions.sort_by_key(|session| session.number);
        self.latency.merge(&other.latency);
        self.cpu += other.cpu;
        self.interrupted |= other.interrupted;
    }
}
