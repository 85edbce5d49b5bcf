//! What the sessions report of a job: commits, times, and what became of arrivals.

use std::time::Duration;

use crate::latency::Latency;
use crate::pool::Asked;

/// What one session did.
#[derive(Clone, Debug, Default)]
pub struct SessionReport {
    /// The session, from 0.
    pub number: usize,
    /// Transactions acknowledged.
    pub commits: u64,
    /// Rows in them: a prepared statement counts as one, the user's own text as what the server says it changed.
    pub rows: u64,
    /// Statements that changed no row.
    pub failed: u64,
    /// From the first statement to the last acknowledgement and the pause after it; with arrivals from the beginning
    /// of their schedule, and to its end.
    pub elapsed: Duration,
    /// Why the session gave up.
    pub trouble: Option<String>,
}

/// What one transaction did.
pub(crate) struct Done {
    /// As in a session's report.
    pub(crate) rows: u64,
    /// As in a session's report.
    pub(crate) failed: u64,
    /// From sending the statement that commits, which is a lone statement itself, to its acknowledgement.
    pub(crate) time: Duration,
}

/// What became of arrivals.
#[derive(Clone, Debug, Default)]
pub struct Responses {
    /// From the moment a transaction was asked for to its acknowledgement.
    pub times: Latency,
    /// Their sum.
    pub total: Duration,
    /// From that moment to the transaction's beginning, of those for which a session was free.
    pub lag: Latency,
    /// Those that found no session free, and began when one was.
    pub waited: u64,
    /// Those that were never begun, because no session was free before the end.
    pub unserved: u64,
}

impl Responses {
    pub(crate) fn begin(&mut self, asked: &Asked, now: Duration) {
        if asked.waited {
            self.waited += 1;
        } else {
            self.lag.note(now.saturating_sub(asked.at));
        }
    }

    pub(crate) fn end(&mut self, asked: &Asked, now: Duration) {
        let time = now.saturating_sub(asked.at);
        self.times.note(time);
        self.total += time;
    }

    fn merge(&mut self, other: &Self) {
        self.times.merge(&other.times);
        self.total += other.total;
        self.lag.merge(&other.lag);
        self.waited += other.waited;
        self.unserved += other.unserved;
    }
}

/// The times that the sessions of one thread note.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) latency: Latency,
    pub(crate) responses: Responses,
}

/// What all sessions did.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// In the order of their numbers.
    pub sessions: Vec<SessionReport>,
    /// From sending the statement that commits to its acknowledgement, all sessions together.
    pub latency: Latency,
    /// What became of arrivals, where there were any.
    pub responses: Option<Responses>,
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
        if let Some(responses) = &other.responses {
            self.responses.get_or_insert_default().merge(responses);
        }
        self.cpu += other.cpu;
        self.interrupted |= other.interrupted;
    }
}
