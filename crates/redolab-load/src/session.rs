//! One session: its connection, and the work on its part of a job.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::time::timeout;

use crate::alarm;
use crate::amount::Amount;
use crate::arrivals::Schedule;
use crate::part::{Job, Task, share};
use crate::pool::Desk;
use crate::report::{Notes, SessionReport};
use crate::wire::{Inserts, Target, Wire};

/// What is asked between two jobs takes no time on a server that answers at all.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

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
            Some(wire) => timeout(ANSWER_LIMIT, wire.is_alive()).await.unwrap_or(false),
            None => false,
        }
    }

    pub(crate) async fn ask(
        &self,
        statement: &str,
        arguments: &[String],
    ) -> Result<Option<String>, String> {
        match &self.wire {
            Some(wire) => timeout(ANSWER_LIMIT, wire.ask(statement, arguments))
                .await
                .map_err(|_| format!("timeout: no answer within {ANSWER_LIMIT:?}"))?,
            None => Err("the connection was closed".to_owned()),
        }
    }

    /// Do this session's part of `task`; the second says whether `stop` ended it. It does so at once, and
    /// the connection with it: what the server is still doing for it is not waited for.
    pub(crate) async fn work(
        &mut self,
        task: &Task,
        desk: Desk,
        notes: &RefCell<Notes>,
        mut stop: watch::Receiver<bool>,
    ) -> (SessionReport, bool) {
        let mut report = SessionReport { number: self.number, ..SessionReport::default() };
        let wire = self.wire.take();
        let done = tokio::select! {
            biased;
            done = part(wire.as_ref(), task, &desk, &mut report, notes) => done,
            _ = stop.wait_for(|stopped| *stopped) => return (report, true),
        };
        match done {
            Ok(()) => self.wire = wire,
            Err(trouble) => report.trouble = Some(trouble),
        }
        (report, false)
    }
}

async fn part(
    wire: Option<&Wire>,
    task: &Task,
    desk: &Desk,
    report: &mut SessionReport,
    notes: &RefCell<Notes>,
) -> Result<(), String> {
    let prepared = prepare(wire, task, report.number).await;
    if let Some(schedule) = &task.schedule {
        // The others wait for a session that is lost, too.
        schedule.begin().await;
    }
    let (wire, inserts) = prepared?;
    match &task.schedule {
        Some(schedule) => as_asked(schedule, desk, &inserts, &task.job, report, notes).await?,
        None => without_pause(&inserts, task, report, notes).await?,
    }
    for statement in &task.job.afterwards {
        wire.ask(statement, &[]).await?;
    }
    Ok(())
}

async fn prepare<'a>(
    wire: Option<&'a Wire>,
    task: &'a Task,
    number: usize,
) -> Result<(&'a Wire, Inserts<'a>), String> {
    let wire = wire.ok_or("the connection was closed")?;
    Ok((wire, Inserts::prepare(wire, &task.job, number).await?))
}

async fn without_pause(
    inserts: &Inserts<'_>,
    task: &Task,
    report: &mut SessionReport,
    notes: &RefCell<Notes>,
) -> Result<(), String> {
    let (quota, limit) = match task.job.amount {
        Amount::Rows(rows) => (share(rows, task.sessions, report.number), Duration::MAX),
        Amount::For(time) => (u64::MAX, time),
    };
    let began = Instant::now();
    while report.rows < quota && began.elapsed() < limit {
        commit(inserts, &task.job, report, notes).await?;
        report.elapsed = began.elapsed();
    }
    Ok(())
}

/// Do what is handed out until nothing is any more.
async fn as_asked(
    schedule: &Schedule,
    desk: &Desk,
    inserts: &Inserts<'_>,
    job: &Job,
    report: &mut SessionReport,
    notes: &RefCell<Notes>,
) -> Result<(), String> {
    let mut free = schedule.start();
    while let Some(asked) = desk.next(schedule, free).await {
        notes.borrow_mut().responses.begin(&asked, alarm::now());
        commit(inserts, job, report, notes).await?;
        free = alarm::now();
        notes.borrow_mut().responses.end(&asked, free);
    }
    report.elapsed = alarm::now().saturating_sub(schedule.start());
    Ok(())
}

async fn commit(
    inserts: &Inserts<'_>,
    job: &Job,
    report: &mut SessionReport,
    notes: &RefCell<Notes>,
) -> Result<(), String> {
    let rows = u64::from(job.rows_per_commit);
    let (inserted, time) = inserts.commit(report.rows).await?;
    notes.borrow_mut().latency.note(time);
    report.commits += 1;
    report.rows += rows;
    report.failed += rows - inserted;
    Ok(())
}
