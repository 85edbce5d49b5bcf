//! The protocols that sessions speak with a server, and what each of them must do.
//!
//! A protocol opens a connection for a session, answers questions on it, and commits transactions. Each has a file of
//! its own, and a variant in each type here; nothing else in the crate asks which protocol is spoken.

mod mysql;
mod postgres;
mod refusal;
mod statement;
mod tcp;
mod tls;
mod unix;

use crate::part::Job;
use crate::report::Done;
pub use mysql::{Encryption, Login as MysqlLogin, Target as MysqlTarget};
pub use postgres::{
    ALPN as POSTGRES_ALPN, ChannelBinding, Login, Methods, Protection, Target as PostgresTarget,
};
pub use tls::{Roots, Tls, TlsOptions, Versions};

/// A server, and as whom to connect, by the protocol that it speaks.
#[derive(Clone, Debug)]
pub enum Target {
    /// PostgreSQL's.
    Postgres(PostgresTarget),
    /// MySQL's, which MariaDB speaks too.
    Mysql(MysqlTarget),
}

impl Target {
    /// Have every connection from now on log in with this password.
    pub(crate) fn set_password(&mut self, password: &str) {
        match self {
            Self::Postgres(target) => target.set_password(password),
            Self::Mysql(target) => target.set_password(password),
        }
    }

    /// Open a connection, shown as `name` in the server's views, and tell what serves it there: a process or, by
    /// MySQL's protocol, a connection's number.
    pub(crate) async fn connect(&self, name: &str) -> Result<(Wire, u32), String> {
        match self {
            Self::Postgres(target) => {
                target.connect(name).await.map(|(wire, pid)| (Wire::Postgres(wire), pid))
            }
            Self::Mysql(target) => {
                target.connect(name).await.map(|(wire, id)| (Wire::Mysql(wire), id))
            }
        }
    }
}

/// One connection.
pub(crate) enum Wire {
    Postgres(postgres::Wire),
    Mysql(mysql::Wire),
}

impl Wire {
    /// Whether the server still answers.
    pub(crate) async fn is_alive(&self) -> bool {
        match self {
            Self::Postgres(wire) => wire.is_alive().await,
            Self::Mysql(wire) => wire.is_alive().await,
        }
    }

    /// Execute `statement`, whose parameters are all text; returns the text in the first column of its
    /// row.
    pub(crate) async fn ask(
        &self,
        statement: &str,
        arguments: &[String],
    ) -> Result<Option<String>, String> {
        match self {
            Self::Postgres(wire) => wire.ask(statement, arguments).await,
            Self::Mysql(wire) => wire.ask(statement, arguments).await,
        }
    }
}

/// One session's transactions.
pub(crate) enum Transactions<'a> {
    Postgres(postgres::Transactions<'a>),
    Mysql(mysql::Transactions<'a>),
}

impl<'a> Transactions<'a> {
    /// Prepare them for the session `number`, from 0.
    pub(crate) async fn prepare(
        wire: &'a Wire,
        job: &'a Job,
        number: usize,
    ) -> Result<Self, String> {
        match wire {
            Wire::Postgres(wire) => {
                postgres::Transactions::prepare(wire, job, number).await.map(Self::Postgres)
            }
            Wire::Mysql(wire) => {
                mysql::Transactions::prepare(wire, job, number).await.map(Self::Mysql)
            }
        }
    }

    /// Commit one transaction after `before` rows.
    pub(crate) async fn commit(&mut self, before: u64) -> Result<Done, String> {
        match self {
            Self::Postgres(transactions) => transactions.commit(before).await,
            Self::Mysql(transactions) => transactions.commit(before).await,
        }
    }
}
