//! Connections, and the questions that are asked on them.

use std::cell::Cell;

use tokio::sync::Mutex;

use super::channel::Channel;
use super::words::Refused;
use crate::wire::statement::{Orphans, Statement};

/// One connection.
pub(crate) struct Wire {
    pub(super) channel: Mutex<Channel>,
    orphans: Orphans,
    prepared: Cell<u32>,
}

impl Wire {
    pub(super) fn new(channel: Channel) -> Self {
        Self { channel: Mutex::new(channel), orphans: Orphans::default(), prepared: Cell::new(0) }
    }

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
        let arguments: Vec<_> = arguments.iter().map(|one| Some(one.as_str())).collect();
        let told = self.channel.lock().await.ask(statement, &arguments).await;
        told.map(|told| told.first).map_err(|refused| refused.text)
    }

    pub(super) async fn prepare(&self, statement: &str) -> Result<Statement, Refused> {
        let mut channel = self.channel.lock().await;
        let number = self.prepared.get() + 1;
        self.prepared.set(number);
        let arguments = channel.prepare(number, statement, &self.orphans.take()).await?;
        Ok(self.orphans.adopt((number, arguments)))
    }
}
