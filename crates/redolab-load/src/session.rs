//! One session: its connection, and the work on its part of a job.

use std::cell::RefCell;
use std::io;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use crate::alarm::{self, Alarm};
use crate::amount::Amount;
use crate::arrivals::Schedule;
use crate::part::{Job, Task, share};
use crate::pool::Desk;
use crate::report::{Notes, SessionReport};
use crate::wire::{Target, Transactions, Wire};

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
    let (wire, transactions) = prepared?;
    let mut working = Working { transactions, job: &task.job, begun: 0, report, notes };
    match &task.schedule {
        Some(schedule) => working.as_asked(schedule, desk).await?,
        None => working.in_a_row(task.sessions).await?,
    }
    drop(working);
    for statement in &task.job.afterwards {
        wire.ask(statement, &[]).await?;
    }
    Ok(())
}

async fn prepare<'a>(
    wire: Option<&'a Wire>,
    task: &'a Task,
    number: usize,
) -> Result<(&'a Wire, Transactions<'a>), String> {
    let wire = wire.ok_or("the connection was closed")?;
    Ok((wire, Transactions::prepare(wire, &task.job, number).await?))
}

fn no_timer(why: &io::Error) -> String {
    format!("no timer: {why}")
}

/// A session at work.
struct Working<'a> {
    transactions: Transactions<'a>,
    job: &'a Job,
    /// Rows of the transactions so far, those of the user's own text counted as one each.
    begun: u64,
    report: &'a mut SessionReport,
    notes: &'a RefCell<Notes>,
}

impl Working<'_> {
    /// Begin each transaction when the last one is committed and the pause after it is over.
    async fn in_a_row(&mut self, sessions: usize) -> Result<(), String> {
        let (quota, limit) = match self.job.amount {
            Amount::Rows(rows) => (share(rows, sessions, self.report.number), Duration::MAX),
            Amount::For(time) => (u64::MAX, time),
        };
        let began = alarm::now();
        let end = began.saturating_add(limit);
        let pauses = (!self.job.pause.is_zero()).then(Alarm::new).transpose();
        let pauses = pauses.map_err(|why| no_timer(&why))?;
        while self.begun < quota && alarm::now() < end {
            self.commit().await?;
            if let Some(alarm) = &pauses {
                let next = alarm::now().saturating_add(self.job.pause).min(end);
                alarm.wait_until(next).await.map_err(|why| no_timer(&why))?;
            }
            self.report.elapsed = alarm::now().saturating_sub(began);
        }
        Ok(())
    }

    /// Do what is handed out until nothing is any more.
    async fn as_asked(&mut self, schedule: &Schedule, desk: &Desk) -> Result<(), String> {
        let mut free = schedule.start();
        while let Some(asked) = desk.next(schedule, free).await {
            self.notes.borrow_mut().responses.begin(&asked, alarm::now());
            self.commit().await?;
            free = alarm::now();
            self.notes.borrow_mut().responses.end(&asked, free);
        }
        self.report.elapsed = alarm::now().saturating_sub(schedule.start());
        Ok(())
    }

    async fn commit(&mut self) -> Result<(), String> {
        let done = self.transactions.commit(self.begun).await?;
        self.begun += u64::from(self.job.rows_per_commit);
        self.notes.borrow_mut().latency.note(done.time);
        self.report.commits += 1;
        self.report.rows += done.rows;
        self.report.failed += done.failed;
        Ok(())
    }
}
