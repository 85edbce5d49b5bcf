//! Formulas of queues.

pub mod bounds;
pub mod erlang;
pub mod published;
