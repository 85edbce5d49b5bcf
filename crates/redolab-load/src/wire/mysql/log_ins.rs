//! The log-ins that this client takes part in, and what it sends of a password in each.
//!
//! The control connection has the same rules in `engine/mariadb/connecting/log_ins.py`; a test compares the two.

/// What of the password a log-in sends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Sent {
    /// A hash of it and of what the server drew at random.
    Proof,
    /// The password itself: over TLS, or over a socket whose other end is known.
    Password,
}

const LOG_INS: [(&str, Sent); 4] = [
    ("mysql_native_password", Sent::Proof),
    ("caching_sha2_password", Sent::Proof),
    ("sha256_password", Sent::Password),
    ("mysql_clear_password", Sent::Password),
];
pub(super) const IN_THE_CLEAR: &str = "the server asked for the password itself, which is not sent over a network without TLS: require TLS, \
     or connect by the server's socket";
const ANOTHER: &str = "the server asked for a log-in by {}, which Redolab does not support: use a user with caching_sha2_password \
     or mysql_native_password";

/// What the log-in by `plugin` sends.
///
/// # Errors
///
/// It is not one of those that this client takes part in.
pub(super) fn sent_by(plugin: &[u8]) -> Result<Sent, String> {
    let known = LOG_INS.iter().find(|(name, _)| name.as_bytes() == plugin);
    known.map(|&(_, sent)| sent).ok_or_else(|| {
        let name: String = String::from_utf8_lossy(plugin).chars().take(MOST_LETTERS).collect();
        ANOTHER.replace("{}", &name)
    })
}

/// Of a plugin's name, as far as it is shown.
const MOST_LETTERS: usize = 64;
