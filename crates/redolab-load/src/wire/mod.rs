//! The protocols that sessions speak with a server, and what each of them must do.
//!
//! A protocol opens a connection for a session, answers questions on it, and commits transactions of single-row
//! inserts. Each has a file of its own, and a variant in each type here; nothing else in the crate asks which protocol
//! is spoken.

mod postgres;
mod refusal;
mod tls;

use std::time::Duration;

use crate::part::Job;
pub use postgres::{ChannelBinding, Login, Methods, Protection, Target as PostgresTarget};
pub use tls::{Roots, Tls, TlsOptions, Versions};

/// A server, and as whom to connect, by the protocol that it speaks.
#[derive(Clone, Debug)]
pub enum Target {
    /// PostgreSQL's.
    Postgres(PostgresTarget),
}

impl Target {
    /// Open a connection, shown as `name` in the server's views, and tell its server process.
    pub(crate) async fn connect(&self, name: &str) -> Result<(Wire, u32), String> {
        match self {
            Self::Postgres(target) => {
                target.connect(name).await.map(|(wire, pid)| (Wire::Postgres(wire), pid))
            }
        }
    }
}

/// One connection.
pub(crate) enum Wire {
    Postgres(postgres::Wire),
}

impl Wire {
    /// Whether the server still answers.
    pub(crate) async fn is_alive(&self) -> bool {
        match self {
            Self::Postgres(wire) => wire.is_alive().await,
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
        }
    }
}

/// One session's transactions.
pub(crate) enum Inserts<'a> {
    Postgres(postgres::Inserts<'a>),
}

impl<'a> Inserts<'a> {
    /// Prepare them for the session `number`, from 0.
    pub(crate) async fn prepare(
        wire: &'a Wire,
        job: &'a Job,
        number: usize,
    ) -> Result<Self, String> {
        match wire {
            Wire::Postgres(wire) => {
                postgres::Inserts::prepare(wire, job, number).await.map(Self::Postgres)
            }
        }
    }

    /// Commit one transaction after `before` rows; returns how many rows it inserted, and the time from
    /// sending the statement that commits, which is a lone INSERT itself, to its acknowledgement.
    pub(crate) async fn commit(&self, before: u64) -> Result<(u64, Duration), String> {
        match self {
            Self::Postgres(inserts) => inserts.commit(before).await,
        }
    }
}
