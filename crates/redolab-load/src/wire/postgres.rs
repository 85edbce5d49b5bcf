//! PostgreSQL's protocol: connections, and transactions of single-row inserts.

mod guarded;
mod handshake;

use std::cell::OnceCell;
use std::error::Error as _;
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::net::sockopt;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::task::spawn_local;
use tokio::time::timeout;
use tokio_postgres::config::{SslMode, SslNegotiation};
use tokio_postgres::tls::TlsConnect;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, Error, NoTls, Statement};

use crate::part::Job;
use crate::wire::refusal::Refusal;
use crate::wire::tls::{Tls, handshake_words};
use guarded::Guarded;
use handshake::Handshake;

pub use guarded::Methods;
pub use tokio_postgres::config::ChannelBinding;

/// A server that vanishes from the network is noticed after half a minute, not after two hours.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(10);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEPALIVES: u32 = 4;

/// Where a server is, and as whom to connect.
#[derive(Clone, Copy)]
pub struct Login<'a> {
    /// A name or an address; what begins with `/` is a socket's directory.
    pub host: &'a str,
    /// The port, also of a socket.
    pub port: u16,
    /// The role.
    pub user: &'a str,
    /// Its password.
    pub password: Option<&'a str>,
    /// The database.
    pub database: &'a str,
    /// For the server, as libpq has them.
    pub options: &'a str,
}

/// How a connection is protected.
#[derive(Clone)]
pub struct Protection {
    /// How it is encrypted. Without it, it is not; with it, it always is. A Unix socket never is.
    pub tls: Option<Tls>,
    /// Whether both ends make sure that they mean the same certificate.
    pub channel_binding: ChannelBinding,
    /// The ways of authentication to take part in.
    pub allowed: Methods,
    /// The user as whom the server must run behind a Unix socket.
    pub peer_uid: Option<u32>,
    /// How long to wait for a connection to be made, authentication and all.
    pub limit: Duration,
}

/// A server, and as whom to connect. Its `Debug` does not show the password.
#[derive(Clone)]
pub struct Target {
    config: Config,
    host: String,
    port: u16,
    protection: Protection,
}

impl Target {
    /// Take where the server is, who connects, and how.
    #[must_use]
    pub fn new(login: &Login<'_>, protection: Protection) -> Self {
        let mut config = Config::new();
        config
            .user(login.user)
            .dbname(login.database)
            .options(login.options)
            .channel_binding(protection.channel_binding);
        if let Some(password) = login.password {
            config.password(password);
        }
        Self { config, host: login.host.to_owned(), port: login.port, protection }
    }

    /// Open a connection, shown as `name` in the server's views, and tell its server process.
    pub(crate) async fn connect(&self, name: &str) -> Result<(Wire, u32), String> {
        let limit = self.protection.limit;
        timeout(limit, self.open(name))
            .await
            .map_err(|_| format!("timeout: the connection was not made within {limit:?}"))?
    }

    async fn open(&self, name: &str) -> Result<(Wire, u32), String> {
        let mut config = self.config.clone();
        config.application_name(name);
        let allowed = self.protection.allowed;
        let wire = if self.host.starts_with('/') {
            let stream = self.unix().await.map_err(|why| no_connection(&why))?;
            in_the_clear(config, stream, allowed).await?
        } else {
            let stream = self.tcp().await.map_err(|why| no_connection(&why))?;
            match &self.protection.tls {
                None => in_the_clear(config, stream, allowed).await?,
                Some(tls) => {
                    let direct =
                        if tls.direct { SslNegotiation::Direct } else { SslNegotiation::Postgres };
                    config.ssl_mode(SslMode::Require).ssl_negotiation(direct);
                    let handshake = Handshake { tls: tls.clone(), allowed };
                    wire(&config, stream, handshake).await?
                }
            }
        };
        let pid = wire.ask("select pg_backend_pid()::text", &[]).await?;
        let pid = pid.and_then(|pid| pid.parse().ok()).ok_or("the server tells no process id")?;
        Ok((wire, pid))
    }

    async fn tcp(&self) -> io::Result<TcpStream> {
        let stream = TcpStream::connect((&*self.host, self.port)).await?;
        stream.set_nodelay(true)?;
        sockopt::set_socket_keepalive(&stream, true)?;
        sockopt::set_tcp_keepidle(&stream, KEEPALIVE_IDLE)?;
        sockopt::set_tcp_keepintvl(&stream, KEEPALIVE_INTERVAL)?;
        sockopt::set_tcp_keepcnt(&stream, KEEPALIVES)?;
        Ok(stream)
    }

    async fn unix(&self) -> io::Result<UnixStream> {
        let socket = Path::new(&self.host).join(format!(".s.PGSQL.{}", self.port));
        let stream = UnixStream::connect(socket).await?;
        match self.protection.peer_uid {
            Some(wanted) if wanted != stream.peer_cred()?.uid() => Err(io::Error::other(Refusal(
                "the server behind this socket does not run as the user that requirepeer names"
                    .to_owned(),
            ))),
            _ => Ok(stream),
        }
    }
}

async fn in_the_clear<S>(mut config: Config, stream: S, allowed: Methods) -> Result<Wire, String>
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
    config.ssl_mode(SslMode::Disable);
    wire(&config, Guarded::new(stream, allowed), NoTls).await
}

/// Log in over `stream`.
async fn wire<S, T>(config: &Config, stream: S, tls: T) -> Result<Wire, String>
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
    T: TlsConnect<S>,
    T::Stream: Unpin + 'static,
{
    let (client, connection) =
        config.connect_raw(stream, tls).await.map_err(|error| words(&error))?;
    let ending = Rc::new(OnceCell::new());
    let told = Rc::clone(&ending);
    // Ends with the client.
    spawn_local(async move {
        if let Err(error) = connection.await {
            let _ = told.set(words(&error));
        }
    });
    Ok(Wire { client, ending })
}

fn no_connection(error: &io::Error) -> String {
    format!("error connecting to server: {error}")
}

impl std::fmt::Debug for Target {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Target").field("host", &self.host).finish_non_exhaustive()
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
    let Some(cause) = error.source() else { return error.to_string() };
    let inner = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    if let Some(refusal) = inner.and_then(|inner| inner.downcast_ref::<Refusal>()) {
        return refusal.to_string();
    }
    if let Some(failed) = inner.and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        return handshake_words(failed);
    }
    format!("{error}: {cause}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_does_not_show_its_password() {
        let login = Login {
            host: "localhost",
            port: 5432,
            user: "me",
            password: Some("s3cret"),
            database: "postgres",
            options: "",
        };
        let protection = Protection {
            tls: None,
            channel_binding: ChannelBinding::Prefer,
            allowed: Methods::default(),
            peer_uid: None,
            limit: Duration::from_secs(1),
        };
        let shown = format!("{:?}", Target::new(&login, protection));
        assert!(shown.contains("localhost") && !shown.contains("s3cret"), "{shown}");
    }
}
