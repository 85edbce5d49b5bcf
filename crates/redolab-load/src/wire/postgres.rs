//! PostgreSQL's protocol: connections.

mod guarded;
mod handshake;
mod transactions;

use std::cell::OnceCell;
use std::error::Error as _;
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio::task::spawn_local;
use tokio::time::timeout;
use tokio_postgres::config::{SslMode, SslNegotiation};
use tokio_postgres::tls::TlsConnect;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, Error, NoTls, Statement};

use crate::wire::refusal::Refusal;
use crate::wire::tcp;
use crate::wire::tls::{Tls, handshake_words};
use crate::wire::unix;
use guarded::Guarded;
use handshake::Handshake;

pub use guarded::Methods;
pub use handshake::ALPN;
pub use tokio_postgres::config::ChannelBinding;
pub(crate) use transactions::Transactions;

const ANOTHER_USER: &str =
    "the server behind this socket does not run as the user that requirepeer names";

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
    /// Have every connection from now on log in with this password.
    pub(crate) fn set_password(&mut self, password: &str) {
        self.config.password(password);
    }

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
            let stream = tcp::connect(&self.host, self.port).await;
            let stream = stream.map_err(|why| no_connection(&why))?;
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

    async fn unix(&self) -> io::Result<UnixStream> {
        let socket = Path::new(&self.host).join(format!(".s.PGSQL.{}", self.port));
        unix::connect(&socket, self.protection.peer_uid, ANOTHER_USER).await
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
