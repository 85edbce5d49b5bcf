//! MySQL's protocol, which MariaDB speaks too: connections.

mod answer;
mod channel;
mod login;
mod statement;
mod transactions;

use std::path::PathBuf;
use std::time::Duration;

use mysql_common::Value;
use tokio::net::UnixStream;
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::wire::tcp;
use crate::wire::tls::{Roots, Tls, TlsOptions, Versions};
use channel::Channel;
use statement::{Orphans, Statement};

pub(crate) use transactions::Transactions;

/// What every session begins with, whatever the server's defaults are.
const CUSTOMS: &str = "SET NAMES utf8mb4; SET autocommit = 1";

/// Where a server is, and as whom to connect.
#[derive(Clone, Copy)]
pub struct Login<'a> {
    /// A name or an address.
    pub host: &'a str,
    /// The port.
    pub port: u16,
    /// The socket to connect by instead.
    pub unix_socket: Option<&'a str>,
    /// The user.
    pub user: &'a str,
    /// Its password.
    pub password: Option<&'a str>,
    /// The database; none need be there.
    pub database: Option<&'a str>,
}

/// How a connection is encrypted, as MySQL's own programs name it.
#[derive(Clone, Debug, PartialEq)]
pub enum Encryption {
    /// Not at all.
    Disabled,
    /// Where the server offers it over the network.
    Preferred,
    /// Always, whatever certificate the server has.
    Required,
    /// Always, and the certificate is vouched for by this file, or by the operating system's root certificates.
    VerifyCa(Option<PathBuf>),
    /// As well, and the certificate is for the host that is connected to.
    VerifyIdentity(Option<PathBuf>),
}

/// A server, and as whom to connect. Its `Debug` does not show the password.
#[derive(Clone)]
pub struct Target {
    host: String,
    port: u16,
    unix_socket: Option<PathBuf>,
    user: String,
    password: String,
    database: Option<String>,
    tls: Option<Tls>,
    /// Whether there is no connection without it.
    must_encrypt: bool,
    limit: Duration,
}

impl Target {
    /// Take where the server is, who connects and how, and how long that may take.
    ///
    /// # Errors
    ///
    /// What is wrong with the file of root certificates, as a sentence without a full stop.
    pub fn new(login: &Login<'_>, encryption: Encryption, limit: Duration) -> Result<Self, String> {
        let must_encrypt = !matches!(encryption, Encryption::Disabled | Encryption::Preferred);
        let check_host = matches!(encryption, Encryption::VerifyIdentity(_));
        let tls = match encryption {
            Encryption::Disabled => None,
            Encryption::Preferred | Encryption::Required => Some(Roots::Anybody),
            Encryption::VerifyCa(None) | Encryption::VerifyIdentity(None) => Some(Roots::System),
            Encryption::VerifyCa(Some(file)) | Encryption::VerifyIdentity(Some(file)) => {
                Some(Roots::File(file))
            }
        };
        let host = login.host.to_owned();
        let tls = tls.map(|roots| {
            Tls::new(&TlsOptions {
                host: host.clone(),
                roots,
                check_host,
                identity: None,
                versions: Versions::Both,
                protocol: None,
                direct: false,
                sni: true,
            })
        });
        Ok(Self {
            host,
            port: login.port,
            unix_socket: login.unix_socket.map(PathBuf::from),
            user: login.user.to_owned(),
            password: login.password.unwrap_or_default().to_owned(),
            database: login.database.map(str::to_owned),
            tls: tls.transpose()?,
            must_encrypt,
            limit,
        })
    }

    /// Open a connection, shown as `name` among its attributes, and tell its number.
    pub(crate) async fn connect(&self, name: &str) -> Result<(Wire, u32), String> {
        timeout(self.limit, self.open(name))
            .await
            .map_err(|_| format!("timeout: the connection was not made within {:?}", self.limit))?
    }

    async fn open(&self, name: &str) -> Result<(Wire, u32), String> {
        let no_connection = |why| format!("error connecting to server: {why}");
        let mut channel = match &self.unix_socket {
            Some(path) => Channel::new(UnixStream::connect(path).await.map_err(no_connection)?),
            None => Channel::new(tcp::connect(&self.host, self.port).await.map_err(no_connection)?),
        };
        channel = login::log_in(channel, self, name).await?;
        channel.query(CUSTOMS).await?;
        let told = channel.query("SELECT CONNECTION_ID()").await?;
        let number = told.first.and_then(text).and_then(|number| number.parse().ok());
        let number = number.ok_or("the server tells no number of the connection")?;
        Ok((Wire { channel: Mutex::new(channel), orphans: Orphans::default() }, number))
    }
}

impl std::fmt::Debug for Target {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Target").field("host", &self.host).finish_non_exhaustive()
    }
}

/// One connection.
pub(crate) struct Wire {
    channel: Mutex<Channel>,
    orphans: Orphans,
}

impl Wire {
    /// Whether the server still answers.
    pub(crate) async fn is_alive(&self) -> bool {
        self.channel.lock().await.ping().await.is_ok()
    }

    /// Execute `statement`, whose parameters are all text; returns the text in the first column of its
    /// row.
    pub(crate) async fn ask(
        &self,
        statement: &str,
        arguments: &[String],
    ) -> Result<Option<String>, String> {
        let told = if arguments.is_empty() {
            self.channel.lock().await.query(statement).await?
        } else {
            let arguments: Vec<_> = arguments.iter().map(|one| Value::from(&**one)).collect();
            let statement = self.prepare(statement).await?;
            self.channel.lock().await.execute(&statement, &arguments).await?
        };
        Ok(told.first.and_then(text))
    }

    async fn prepare(&self, statement: &str) -> Result<Statement, String> {
        let mut channel = self.channel.lock().await;
        self.orphans.close(&mut channel).await?;
        let prepared = channel.prepare(statement).await?;
        Ok(self.orphans.adopt(prepared))
    }
}

/// A value as text; None where there is none.
fn text(value: Value) -> Option<String> {
    match value {
        Value::NULL => None,
        Value::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        // Moments stand in quotes.
        other => Some(other.as_sql(true).trim_matches('\'').to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGIN: Login<'_> = Login {
        host: "localhost",
        port: 3306,
        unix_socket: None,
        user: "me",
        password: Some("s3cret"),
        database: None,
    };

    #[test]
    fn a_target_does_not_show_its_password() {
        let target = Target::new(&LOGIN, Encryption::Preferred, Duration::from_secs(1)).unwrap();
        let shown = format!("{target:?}");
        assert!(shown.contains("localhost") && !shown.contains("s3cret"), "{shown}");
    }

    #[test]
    fn a_file_of_roots_must_be_there_where_it_is_relied_on() {
        let made = |encryption| Target::new(&LOGIN, encryption, Duration::from_secs(1));
        let file = Some(PathBuf::from("/nowhere/ca.pem"));
        let why = made(Encryption::VerifyCa(file)).unwrap_err();
        assert!(why.contains("/nowhere/ca.pem"), "{why}");
        for (encryption, must) in [
            (Encryption::Disabled, false),
            (Encryption::Preferred, false),
            (Encryption::Required, true),
        ] {
            assert_eq!(made(encryption).unwrap().must_encrypt, must);
        }
    }

    #[test]
    fn values_of_every_kind_become_text() {
        for (value, expected) in [
            (Value::NULL, None),
            (Value::Bytes(b"ON".to_vec()), Some("ON")),
            (Value::Int(-3), Some("-3")),
            (Value::UInt(u64::MAX), Some("18446744073709551615")),
            (Value::Double(1.5), Some("1.5")),
            (Value::Date(2026, 1, 2, 3, 4, 5, 0), Some("2026-01-02 03:04:05")),
        ] {
            assert_eq!(text(value).as_deref(), expected);
        }
    }
}
