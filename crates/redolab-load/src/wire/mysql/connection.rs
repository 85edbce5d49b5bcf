//! Connections, and the questions that are asked on them.

use mysql_common::Value;
use mysql_common::packets::ComStmtClose;
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::channel::Channel;
use super::login::log_in;
use super::target::Target;
use crate::wire::statement::{Orphans, Statement};
use crate::wire::tcp;
use crate::wire::unix;

const ANOTHER_PEER: &str =
    "whoever listens at this socket runs as another user than at the first connection";
/// What every session begins with, whatever the server's defaults are.
const CUSTOMS: &str = "SET NAMES utf8mb4; SET autocommit = 1";

impl Target {
    /// Open a connection, shown as `name` among its attributes, and tell its number.
    pub(crate) async fn connect(&self, name: &str) -> Result<(Wire, u32), String> {
        timeout(self.limit, self.open(name))
            .await
            .map_err(|_| format!("timeout: the connection was not made within {:?}", self.limit))?
    }

    async fn open(&self, name: &str) -> Result<(Wire, u32), String> {
        let no_connection = |why| format!("error connecting to server: {why}");
        let mut channel = match &self.unix_socket {
            Some(path) => {
                let stream = unix::connect(path, self.peer_uid, ANOTHER_PEER).await;
                Channel::new(stream.map_err(no_connection)?)
            }
            None => Channel::new(tcp::connect(&self.host, self.port).await.map_err(no_connection)?),
        };
        channel = log_in(channel, self, name).await?;
        channel.query(CUSTOMS).await?;
        let told = channel.query("SELECT CONNECTION_ID()").await?;
        let number = told.first.and_then(text).and_then(|number| number.parse().ok());
        let number = number.ok_or("the server tells no number of the connection")?;
        Ok((Wire { channel: Mutex::new(channel), orphans: Orphans::default() }, number))
    }
}

/// One connection.
pub(crate) struct Wire {
    pub(super) channel: Mutex<Channel>,
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

    pub(super) async fn prepare(&self, statement: &str) -> Result<Statement, String> {
        let mut channel = self.channel.lock().await;
        for number in self.orphans.take() {
            channel.tell(&ComStmtClose::new(number)).await?;
        }
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
