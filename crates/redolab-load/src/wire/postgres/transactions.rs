//! Transactions by PostgreSQL's protocol.

use std::time::Instant;

use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Statement};

use super::Wire;
use crate::arguments::{Bound, Hand};
use crate::part::{How, Job};
use crate::report::Done;

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
        let statement = wire.prepare(&job.statement_of(number)).await?;
        let set = wire.prepare("select set_config($1, $2, true)").await?;
        Ok(Self { wire, job, statement, set, hand: Hand::new(&job.arguments, job.seed, number) })
    }

    /// Commit one transaction after `before` statements.
    pub(crate) async fn commit(&mut self, before: u64) -> Result<Done, String> {
        let done = if self.job.is_lone_statement() {
            let began = Instant::now();
            self.execute(before + 1).await.map(|failed| Done {
                rows: 1,
                failed,
                time: began.elapsed(),
            })
        } else {
            self.transaction(before).await
        };
        done.map_err(|error| self.wire.why(&error))
    }

    async fn transaction(&mut self, before: u64) -> Result<Done, Error> {
        let client = &self.wire.client;
        let rows = u64::from(self.job.rows_per_commit);
        client.batch_execute("begin").await?;
        for (name, value) in &self.job.parameters {
            client.execute(&self.set, &[name, value]).await?;
        }
        let mut failed = 0;
        for row in 1..=rows {
            failed += self.execute(before + row).await?;
        }
        let began = Instant::now();
        client.batch_execute("commit").await?;
        Ok(Done { rows, failed, time: began.elapsed() })
    }

    /// Execute the statement for `row`; returns 1 where it changed none, else 0.
    async fn execute(&mut self, row: u64) -> Result<u64, Error> {
        let arguments = self.hand.deal(row);
        let arguments: Vec<&(dyn ToSql + Sync)> = arguments
            .iter()
            .map(|one| match one {
                Bound::Session(number) => number as &(dyn ToSql + Sync),
                Bound::Number(number) => number,
                Bound::Text(text) => text,
            })
            .collect();
        let changed = self.wire.client.execute(&self.statement, &arguments).await?;
        Ok(u64::from(changed == 0))
    }
}
