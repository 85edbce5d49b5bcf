//! Why a PostgreSQL server, or a connection to one, does not do what was asked.

use std::io;

use crate::wire::refusal::Refusal;
use crate::wire::tls::handshake_words;

pub(super) const STRANGE: &str = "the server's answer is not PostgreSQL's protocol";

/// What went wrong, in the server's own words, which never have a password in them.
#[derive(Clone, Debug)]
pub(super) struct Refused {
    pub(super) text: String,
    /// The SQLSTATE of a server's error.
    pub(super) state: Option<String>,
    /// Whether the connection has ended with it.
    pub(super) is_fatal: bool,
}

impl From<&str> for Refused {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<String> for Refused {
    fn from(text: String) -> Self {
        Self { text, state: None, is_fatal: true }
    }
}

/// Of a connection that was made.
pub(super) fn lost(why: &io::Error) -> String {
    inner(why).unwrap_or_else(|| format!("error communicating with the server: {why}"))
}

/// Of one that could not be made.
pub(super) fn no_connection(why: &io::Error) -> String {
    inner(why).unwrap_or_else(|| format!("error connecting to server: {why}"))
}

/// Of the handshake of TLS.
pub(super) fn no_handshake(why: &io::Error) -> String {
    inner(why).unwrap_or_else(|| format!("the TLS handshake failed: {why}"))
}

/// The words of this client's own, and those of its TLS.
fn inner(why: &io::Error) -> Option<String> {
    let inner = why.get_ref()?;
    if let Some(refusal) = inner.downcast_ref::<Refusal>() {
        return Some(refusal.to_string());
    }
    inner.downcast_ref::<rustls::Error>().map(handshake_words)
}
