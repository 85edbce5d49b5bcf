//! TLS as libpq has it: whom to believe, by which name, and how to introduce oneself.

mod binding;
mod certificates;
mod connector;
mod identity;
mod names;
mod roots;
mod verifier;
mod words;

pub(crate) use binding::end_point;
pub use connector::{Roots, Tls, TlsOptions, Versions};
pub(crate) use words::handshake_words;
