//! Transactions by MySQL's protocol.

use std::time::Instant;

use mysql_common::Value;

use super::channel::Channel;
use super::connection::Wire;
use crate::arguments::{Bound, Hand};
use crate::part::{How, Job};
use crate::report::Done;
use crate::wire::statement::Statement;

/// One session's transactions.
pub(crate) struct Transactions<'a> {
    wire: &'a Wire,
    job: &'a Job,
    unit: Unit,
    hand: Hand<'a>,
}

/// What is executed over and over.
enum Unit {
    Prepared(Statement),
    Text(String),
}

impl<'a> Transactions<'a> {
    /// Prepare them for the session `number`, from 0.
    pub(crate) async fn prepare(
        wire: &'a Wire,
        job: &'a Job,
        number: usize,
    ) -> Result<Self, String> {
        if !job.parameters.is_empty() {
            return Err("MariaDB and MySQL have no parameters for one transaction alone: \
                        set them for the session or for the server"
                .to_owned());
        }
        let statement = job.statement_of(number);
        let unit = match job.how {
            How::Prepared => Unit::Prepared(wire.prepare(&statement).await?),
            How::Text => Unit::Text(statement),
        };
        Ok(Self { wire, job, unit, hand: Hand::new(&job.arguments, job.seed, number) })
    }

    /// Commit one transaction after `before` rows.
    pub(crate) async fn commit(&mut self, before: u64) -> Result<Done, String> {
        let Self { wire, job, unit, hand } = self;
        let channel = &mut *wire.channel.lock().await;
        if let (Unit::Prepared(statement), true) = (&*unit, job.is_lone_statement()) {
            let arguments = values(hand, before + 1);
            let began = Instant::now();
            let told = channel.execute(statement, &arguments).await?;
            let time = began.elapsed();
            return Ok(Done { rows: 1, failed: u64::from(told.changed == 0), time });
        }
        channel.query("BEGIN").await?;
        let (rows, failed) = match unit {
            Unit::Prepared(statement) => prepared(channel, statement, job, hand, before).await?,
            Unit::Text(text) => (channel.query(text).await?.changed, 0),
        };
        let began = Instant::now();
        channel.query("COMMIT").await?;
        Ok(Done { rows, failed, time: began.elapsed() })
    }
}

/// Execute the statement for every row of a transaction; returns how many, and how many of them changed none.
async fn prepared(
    channel: &mut Channel,
    statement: &Statement,
    job: &Job,
    hand: &mut Hand<'_>,
    before: u64,
) -> Result<(u64, u64), String> {
    let rows = u64::from(job.rows_per_commit);
    let mut failed = 0;
    for row in 1..=rows {
        let arguments = values(hand, before + row);
        failed += u64::from(channel.execute(statement, &arguments).await?.changed == 0);
    }
    Ok((rows, failed))
}

fn values(hand: &mut Hand<'_>, row: u64) -> Vec<Value> {
    let value = |bound| match bound {
        Bound::Session(number) => Value::Int(i64::from(number)),
        Bound::Number(number) => Value::Int(number),
        Bound::Text(text) => Value::Bytes(text.into()),
    };
    hand.deal(row).into_iter().map(value).collect()
}
