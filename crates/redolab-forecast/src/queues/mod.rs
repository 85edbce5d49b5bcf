//! Formulas of queues.

pub mod erlang;
pub mod published;
