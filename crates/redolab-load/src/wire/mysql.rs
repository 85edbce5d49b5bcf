//! MySQL's protocol, which MariaDB speaks too.

mod answer;
mod channel;
mod connection;
mod log_ins;
mod login;
mod target;
mod transactions;

pub(crate) use connection::Wire;
pub use target::{Encryption, Login, Target};
pub(crate) use transactions::Transactions;
