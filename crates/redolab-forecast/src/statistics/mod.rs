//! Numbers to figures.

pub mod sums;
