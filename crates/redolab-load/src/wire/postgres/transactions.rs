//! Transactions by PostgreSQL's protocol.

use std::time::Instant;

use super::answer::Text;
use super::channel::Channel;
use super::connection::Wire;
use super::words::Refused;
use crate::arguments::{Bound, Hand};
use crate::part::{How, Job};
use crate::report::Done;
use crate::wire::statement::Statement;

/// One session's transactions.
pub(crate) struct Transactions<'a> {
    wire: &'a Wire,
    job: &'a Job,
    statement: Statement,
    /// Sets one parameter in the transaction.
    set: Statement,
    hand: Hand<'a>,
}

impl<'a> Transactions<'a> {
    /// Prepare them for the session `number`, from 0.
    pub(crate) async fn prepare(
        wire: &'a Wire,
        job: &'a Job,
        number: usize,
    ) -> Result<Self, String> {
        if job.how == How::Text {
            return Err("several statements in one text are not for PostgreSQL's protocol: \
                        give each of them as a job of its own"
                .to_owned());
        }
        let told = |refused: Refused| refused.text;
        let statement = wire.prepare(&job.statement_of(number)).await.map_err(told)?;
        let set = wire.prepare("select set_config($1, $2, true)").await.map_err(told)?;
        Ok(Self { wire, job, statement, set, hand: Hand::new(&job.arguments, job.seed, number) })
    }

    /// Commit one transaction after `before` statements.
    pub(crate) async fn commit(&mut self, before: u64) -> Result<Done, String> {
        let Self { wire, job, statement, set, hand } = self;
        let channel = &mut *wire.channel.lock().await;
        let done = if job.is_lone_statement() {
            let began = Instant::now();
            execute(channel, statement, hand, before + 1).await.map(|failed| Done {
                rows: 1,
                failed,
                time: began.elapsed(),
            })
        } else {
            transaction(channel, job, (statement, set), hand, before).await
        };
        done.map_err(|refused| refused.text)
    }
}

async fn transaction(
    channel: &mut Channel,
    job: &Job,
    (statement, set): (&Statement, &Statement),
    hand: &mut Hand<'_>,
    before: u64,
) -> Result<Done, Refused> {
    let rows = u64::from(job.rows_per_commit);
    channel.query("begin").await?;
    for (name, value) in &job.parameters {
        channel.execute(set, &[Some(name), Some(value)]).await?;
    }
    let mut failed = 0;
    for row in 1..=rows {
        failed += execute(channel, statement, hand, before + row).await?;
    }
    let began = Instant::now();
    channel.query("commit").await?;
    Ok(Done { rows, failed, time: began.elapsed() })
}

/// Execute the statement for `row`; returns 1 where it changed none, else 0.
async fn execute(
    channel: &mut Channel,
    statement: &Statement,
    hand: &mut Hand<'_>,
    row: u64,
) -> Result<u64, Refused> {
    let texts: Vec<String> = hand.deal(row).into_iter().map(text).collect();
    let arguments: Vec<Text<'_>> = texts.iter().map(|text| Some(text.as_str())).collect();
    let told = channel.execute(statement, &arguments).await?;
    Ok(u64::from(told.rows == 0))
}

fn text(bound: Bound<'_>) -> String {
    match bound {
        Bound::Session(number) => number.to_string(),
        Bound::Number(number) => number.to_string(),
        Bound::Text(text) => text.to_owned(),
    }
}
