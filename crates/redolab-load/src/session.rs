//! One session: its connection, and its part of a job.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio_postgres::Client;

use crate::latency::Latency;
use crate::part::{Amount, Job, share};
use crate::postgres::{Inserts, Target, ask};
use crate::report::SessionReport;

/// A connection, until it is lost.
pub(crate) struct Session {
    pub(crate) number: usize,
    pub(crate) pid: u32,
    client: Option<Client>,
}

impl Session {
    pub(crate) async fn open(target: &Target, number: usize) -> Result<Self, String> {
        let (client, pid) = target.connect(&format!("redolab session {}", number + 1)).await?;
        Ok(Self { number, pid, client: Some(client) })
    }

    pub(crate) fn is_open(&self) -> bool {
        self.client.as_ref().is_some_and(|client| !client.is_closed())
    }

    pub(crate) async fn ask(
        &self,
        statement: &str,
        arguments: &[String],
    ) -> Result<Option<String>, String> {
        match &self.client {
            Some(client) => ask(client, statement, arguments).await,
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
        let Some(client) = self.client.take() else {
            report.trouble = Some("the connection was closed".to_owned());
            return (report, false);
        };
        let done = tokio::select! {
            biased;
            done = part(&client, job, sessions, &mut report, latency) => done,
            _ = stop.wait_for(|stopped| *stopped) => return (report, true),
        };
        match done {
            Ok(()) => self.client = Some(client),
            Err(trouble) => report.trouble = Some(trouble),
        }
        (report, false)
    }
}

async fn part(
    client: &Client,
    job: &Job,
    sessions: usize,
    report: &mut SessionReport,
    latency: &RefCell<Latency>,
) -> Result<(), String> {
    let inserts = Inserts::prepare(client, job, report.number).await?;
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
        ask(client, statement, &[]).await?;
    }
    Ok(())
}
