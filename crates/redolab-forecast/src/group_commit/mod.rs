//! The group-commit model: what it needs to be told.

mod nanoseconds;
pub mod parameters;
