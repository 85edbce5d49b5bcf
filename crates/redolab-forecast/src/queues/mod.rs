//! Formulas of queues.

pub mod bounds;
pub mod erlang;
mod lambert;
pub mod published;
