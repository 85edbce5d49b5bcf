//! The group-commit model: what it is told, how much of it is simulated, and what that says.

pub mod averages;
pub mod plan;
pub mod simulate;
