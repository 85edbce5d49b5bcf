//! Numbers to figures.

pub mod ratio;
pub mod student;
pub mod sums;
