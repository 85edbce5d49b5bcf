//! Numbers to figures.

pub mod quantiles;
pub mod ratio;
pub mod student;
