//! PostgreSQL's protocol: connections.

mod answer;
mod channel;
mod connection;
mod guarded;
mod login;
mod transactions;
mod words;

use std::path::Path;
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::time::timeout;

use crate::wire::tcp;
use crate::wire::tls::Tls;
use crate::wire::unix;
use channel::Channel;
use guarded::Guarded;
use login::{Identity, encrypt, log_in};
use words::{Refused, no_connection};

pub(crate) use connection::Wire;
pub use guarded::Methods;
pub use login::{ALPN, ChannelBinding};
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
    identity: Identity,
    host: String,
    port: u16,
    protection: Protection,
}

impl Target {
    /// Have every connection from now on log in with this password.
    pub(crate) fn set_password(&mut self, password: &str) {
        self.identity.password = Some(password.to_owned());
    }

    /// Take where the server is, who connects, and how.
    #[must_use]
    pub fn new(login: &Login<'_>, protection: Protection) -> Self {
        let identity = Identity {
            user: login.user.to_owned(),
            password: login.password.map(ToOwned::to_owned),
            database: login.database.to_owned(),
            options: login.options.to_owned(),
        };
        Self { identity, host: login.host.to_owned(), port: login.port, protection }
    }

    /// Open a connection, shown as `name` in the server's views, and tell its server process.
    pub(crate) async fn connect(&self, name: &str) -> Result<(Wire, u32), String> {
        let limit = self.protection.limit;
        timeout(limit, self.open(name))
            .await
            .map_err(|_| format!("timeout: the connection was not made within {limit:?}"))?
            .map_err(|refused| refused.text)
    }

    async fn open(&self, name: &str) -> Result<(Wire, u32), Refused> {
        let Protection { tls, channel_binding, allowed, .. } = &self.protection;
        let (mut channel, certificate) = if self.host.starts_with('/') {
            (Channel::new(Guarded::new(self.unix().await?, *allowed)), None)
        } else {
            let stream = tcp::connect(&self.host, self.port).await;
            let stream = stream.map_err(|why| no_connection(&why))?;
            match tls {
                None => (Channel::new(Guarded::new(stream, *allowed)), None),
                Some(tls) => encrypt(stream, tls, *allowed).await?,
            }
        };
        log_in(&mut channel, &self.identity, name, *channel_binding, certificate).await?;
        let told = channel.ask("select pg_backend_pid()", &[]).await?;
        let pid = told.first.and_then(|pid| pid.parse().ok());
        Ok((Wire::new(channel), pid.ok_or("the server tells no process id")?))
    }

    async fn unix(&self) -> Result<UnixStream, Refused> {
        let socket = Path::new(&self.host).join(format!(".s.PGSQL.{}", self.port));
        let stream = unix::connect(&socket, self.protection.peer_uid, ANOTHER_USER).await;
        stream.map_err(|why| no_connection(&why).into())
    }
}

impl std::fmt::Debug for Target {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Target").field("host", &self.host).finish_non_exhaustive()
    }
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
