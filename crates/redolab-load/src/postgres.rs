//! PostgreSQL: connections, and transactions of single-row inserts.

use std::cell::OnceCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::task::spawn_local;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, Error, NoTls, Statement};

use crate::part::Job;

const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// A server that vanishes from the network is noticed after half a minute, not after two hours.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(10);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEPALIVES: u32 = 4;

/// A server, and as whom to connect. Its `Debug` does not show the password.
#[derive(Clone)]
pub struct Target(Config);

impl Target {
    /// Take where the server is and who connects; `host` beginning with `/` is a socket's directory. `options`
    /// are for the server, as libpq has them.
    #[must_use]
    pub fn new(
        host: &str,
        port: u16,
        user: &str,
        password: Option<&str>,
        database: &str,
        options: &str,
    ) -> Self {
        let mut config = Config::new();
        config
            .host(host)
            .port(port)
            .user(user)
            .dbname(database)
            .options(options)
            .connect_timeout(CONNECT_LIMIT)
            .keepalives_idle(KEEPALIVE_IDLE)
            .keepalives_interval(KEEPALIVE_INTERVAL)
            .keepalives_retries(KEEPALIVES);
        if let Some(password) = password {
            config.password(password);
        }
        Self(config)
    }

    /// Open a connection, shown as `name` in the server's views, and tell its server process.
    pub(crate) async fn connect(&self, name: &str) -> Result<(Wire, u32), String> {
        let mut config = self.0.clone();
        let (client, connection) =
            config.application_name(name).connect(NoTls).await.map_err(|error| words(&error))?;
        let ending = Rc::new(OnceCell::new());
        let told = Rc::clone(&ending);
        // Ends with the client.
        spawn_local(async move {
            if let Err(error) = connection.await {
                let _ = told.set(words(&error));
            }
        });
        let wire = Wire { client, ending };
        let pid = wire.ask("select pg_backend_pid()::text", &[]).await?;
        let pid = pid.and_then(|pid| pid.parse().ok()).ok_or("the server tells no process id")?;
        Ok((wire, pid))
    }
}

impl std::fmt::Debug for Target {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Target").field("hosts", &self.0.get_hosts()).finish_non_exhaustive()
    }
}

/// One connection.
pub(crate) struct Wire {
    client: Client,
    /// Why it ended, where the server said so between two statements.
    ending: Rc<OnceCell<String>>,
}

impl Wire {
    /// Whether the server still answers.
    pub(crate) async fn is_alive(&self) -> bool {
        self.client.check_connection().await.is_ok()
    }

    /// Execute `statement`, whose parameters are all text; returns the text in the first column of its
    /// row.
    pub(crate) async fn ask(
        &self,
        statement: &str,
        arguments: &[String],
    ) -> Result<Option<String>, String> {
        let arguments: Vec<&(dyn ToSql + Sync)> =
            arguments.iter().map(|argument| argument as &(dyn ToSql + Sync)).collect();
        let row = self.client.query_opt(statement, &arguments).await;
        let text = row.and_then(|row| row.map_or(Ok(None), |row| row.try_get(0)));
        text.map_err(|error| self.why(&error))
    }

    async fn prepare(&self, statement: &str) -> Result<Statement, String> {
        self.client.prepare(statement).await.map_err(|error| self.why(&error))
    }

    fn why(&self, error: &Error) -> String {
        let ended = if error.is_closed() { self.ending.get() } else { None };
        ended.cloned().unwrap_or_else(|| words(error))
    }
}

/// One session's transactions.
pub(crate) struct Inserts<'a> {
    wire: &'a Wire,
    job: &'a Job,
    insert: Statement,
    /// Sets one parameter in the transaction.
    set: Statement,
    number: i32,
}

impl<'a> Inserts<'a> {
    /// Prepare them for the session `number`, from 0.
    pub(crate) async fn prepare(
        wire: &'a Wire,
        job: &'a Job,
        number: usize,
    ) -> Result<Self, String> {
        let insert = wire.prepare(&job.statement).await?;
        let set = wire.prepare("select set_config($1, $2, true)").await?;
        Ok(Self { wire, job, insert, set, number: i32::try_from(number).unwrap_or(i32::MAX) })
    }

    /// Commit one transaction after `before` rows; returns how many rows it inserted, and the time from
    /// sending the statement that commits, which is a lone INSERT itself, to its acknowledgement.
    pub(crate) async fn commit(&self, before: u64) -> Result<(u64, Duration), String> {
        let rows = u64::from(self.job.rows_per_commit);
        let done = if rows == 1 && self.job.parameters.is_empty() {
            let began = Instant::now();
            self.insert(before + 1).await.map(|inserted| (inserted, began.elapsed()))
        } else {
            self.transaction(before, rows).await
        };
        done.map_err(|error| self.wire.why(&error))
    }

    async fn transaction(&self, before: u64, rows: u64) -> Result<(u64, Duration), Error> {
        let client = &self.wire.client;
        client.batch_execute("begin").await?;
        for (name, value) in &self.job.parameters {
            client.execute(&self.set, &[name, value]).await?;
        }
        let mut inserted = 0;
        for row in 1..=rows {
            inserted += self.insert(before + row).await?;
        }
        let began = Instant::now();
        client.batch_execute("commit").await?;
        Ok((inserted, began.elapsed()))
    }

    async fn insert(&self, entry: u64) -> Result<u64, Error> {
        let entry = i64::try_from(entry).unwrap_or(i64::MAX);
        self.wire.client.execute(&self.insert, &[&self.number, &entry, &self.job.padding]).await
    }
}

/// What went wrong, with the server's own words, which never have a password in them.
fn words(error: &Error) -> String {
    if let Some(answer) = error.as_db_error() {
        return answer.message().to_owned();
    }
    let cause = std::error::Error::source(error);
    cause.map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}

#[cfg(test)]
mod tests {
    use super::Target;

    #[test]
    fn a_target_does_not_show_its_password() {
        let target = Target::new("localhost", 5432, "me", Some("s3cret"), "postgres", "");
        let shown = format!("{target:?}");
        assert!(shown.contains("localhost") && !shown.contains("s3cret"), "{shown}");
    }
}
