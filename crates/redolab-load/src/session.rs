//! One session: its connection, and its part of a job.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::latency::Latency;
use crate::part::{Amount, Job, share};
use crate::postgres::{Inserts, Target, Wire};
use crate::report::SessionReport;

/// A connection, until it is lost.
pub(crate) struct Session {
    pub(crate) number: usize,
    pub(crate) pid: u32,
    wire: Option<Wire>,
}

impl Session {
    pub(crate) async fn open(target: &Target, number: usize) -> Result<Self, String> {
        let (wire, pid) = target.connect(&format!("redolab session {}", number + 1)).await?;
        Ok(Self { number, pid, wire: Some(wire) })
    }

    /// Whether the server still answers.
    pub(crate) async fn is_alive(&self) -> bool {
        match &self.wire {
            Some(wire) => wire.is_alive().await,
            None => false,
        }
    }

    pub(crate) async fn ask(
        &self,
        statement: &str,
        arguments: &[String],
    ) -> Result<Option<String>, String> {
        match &self.wire {
            Some(wire) => wire.ask(statement, arguments).await,
            None => Err("the connection was closed".to_owned()),
        }
    }

    /// Do this session's part of `job`; the second says whether `stop` ended it. It does so at once, and
    /// the connection with it: what the server is still doing for it is not waited for.
    pub(crate) async fn work(
        &mut self,
        job: &Job,
        sessions: usize,
        latency: &RefCell<Latency>,
        mut stop: watch::Receiver<bool>,
    ) -> (SessionReport, bool) {
        let mut report = SessionReport { number: self.number, ..SessionReport::default() };
        let Some(wire) = self.wire.take() else {
            report.trouble = Some("the connection was closed".to_owned());
            return (report, false);
        };
        let done = tokio::select! {
            biased;
            done = part(&wire, job, sessions, &mut report, latency) => done,
            _ = stop.wait_for(|stopped| *stopped) => return (report, true),
        };
        match done {
            Ok(()) => self.wire = Some(wire),
            Err(trouble) => report.trouble = Some(trouble),
        }
        (report, false)
    }
}

async fn part(
    wire: &Wire,
    job: &Job,
    sessions: usize,
    report: &mut SessionReport,
    latency: &RefCell<Latency>,
) -> Result<(), String> {
    let inserts = Inserts::prepare(wire, job, report.number).await?;
    let (quota, limit) = match job.amount {
        Amount::Rows(rows) => (share(rows, sessions, report.number), Duration::MAX),
        Amount::For(time) => (u64::MAX, time),
    };
    let rows = u64::from(job.rows_per_commit);
    let began = Instant::now();
    while report.rows < quota && began.elapsed() < limit {
        let (inserted, time) = inserts.commit(report.rows).await?;
        latency.borrow_mut().note(time);
        report.commits += 1;
        report.rows += rows;
        report.failed += rows - inserted;
        report.elapsed = began.elapsed();
    }
    for statement in &job.afterwards {
        wire.ask(statement, &[]).await?;
    }
    Ok(())
}
