//! Database sessions that work over the wire, as an application's do, and the time of each commit.
//!
//! Every session is one connection on a current-thread runtime; the sessions are dealt out over a few
//! threads, because one event loop for all of them would queue inside the client, and a runtime that
//! moves sessions between threads would use about twice the CPU. Sessions are opened once, work as often
//! as they are told, and can be stopped at any moment.
//!
//! They work as fast as they can, or pause after each commit, or do what is asked for at random moments (`Arrivals`), each handed to the
//! free session of a thread that was used last. Then a response time counts from the moment it was asked
//! for, so that what a slow server makes wait is in it.
//!
//! A connection is encrypted where it is told to be, and never falls back. What a server may send before anybody
//! knows who it is has limits: the ways of authentication, the bytes at once, the time.

mod alarm;
mod amount;
mod arguments;
mod arrivals;
mod latency;
mod login_paths;
mod part;
mod pool;
mod report;
mod session;
mod sessions;
mod shard;
mod vacancies;
mod wire;

pub use amount::Amount;
pub use arguments::Argument;
pub use arrivals::Arrivals;
pub use latency::Latency;
pub use login_paths::{MOST_BYTES as MOST_LOGIN_PATH_BYTES, Unreadable, login_paths};
pub use part::{How, Job};
pub use report::{Report, Responses, SessionReport};
pub use sessions::Sessions;
pub use wire::{
    ChannelBinding, Encryption, Login, Methods, MysqlLogin, MysqlTarget, POSTGRES_ALPN,
    PostgresTarget, Protection, Roots, Target, Tls, TlsOptions, Versions,
};
